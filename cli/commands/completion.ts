import { readFile } from 'node:fs/promises';
import { command } from '../command.js';
import { usageFault } from '../exit.js';

const SHELLS = ['bash', 'zsh', 'fish'];

export const completion = command({
  name: 'completion',
  args: '<shell>',
  summary: 'Let your shell complete commands, flags, values and names',
  examples: [
    'bash > ~/.local/share/bash-completion/completions/adjutant',
    'zsh > ~/.zfunc/_adjutant',
    'fish > ~/.config/fish/completions/adjutant.fish',
  ],
  values: { shell: SHELLS },
  notes: [
    `Shells: ${SHELLS.join(', ')}. For this one shell alone: eval "$(adjutant completion bash)"`,
    'Names are asked of the daemon, and kept for half a minute in your cache folder.',
  ],
  run: async ({ out }, { args: { shell } }) => {
    if (!SHELLS.includes(shell)) {
      throw usageFault(`There is no completion for "${shell}".`, `For: ${SHELLS.join(', ')}`);
    }
    const script = await readFile(
      new URL(`../completion/adjutant.${shell}`, import.meta.url),
      'utf8',
    );
    out.line(script.trimEnd());
  },
});
