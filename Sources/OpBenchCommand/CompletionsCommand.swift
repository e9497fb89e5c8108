import ArgumentParser

/// `opbench completions SHELL`
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print a script by which a shell completes opbench's command lines.",
        discussion: """
            Where shells look for it: bash ~/.local/share/bash-completion/completions/opbench; zsh a file _opbench in a \
            folder of $fpath; fish ~/.config/fish/completions/opbench.fish.

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

    @Argument(help: ArgumentHelp("Which shell.", valueName: "shell"))
    var shell: Shell

    func run() throws { try StandardOutput.write(OpBench.completionScript(for: shell.script)) }
}
