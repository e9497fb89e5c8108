print("opbench")
