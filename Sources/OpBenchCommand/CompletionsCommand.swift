import ArgumentParser

/// `opbench completions SHELL`
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a shell's completion script for opbench.",
        discussion: """
            Where shells look for it: bash in ~/.local/share/bash-completion/completions/opbench, zsh in a file \
            _opbench in a folder of $fpath, fish in ~/.config/fish/completions/opbench.fish.

            EXAMPLES
              opbench completions bash > ~/.local/share/bash-completion/completions/opbench
              opbench completions zsh > ~/.zfunc/_opbench
              opbench completions fish > ~/.config/fish/completions/opbench.fish
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish

        var script: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: ArgumentHelp("The shell.", valueName: "shell"))
    var shell: Shell

    func run() throws { try StandardOutput.write(OpBench.completionScript(for: shell.script)) }
}
