import type { CliCommand } from '../../cli/command.js';
import { sections } from '../../cli/entries.js';

/** A command that does something, and the words that name it: `hooks list`, `whoami`. */
export interface Leaf {
  path: string;
  command: CliCommand;
}

/** Every command of the program, in the order of its help. */
export const leaves = async (): Promise<Leaf[]> => {
  const entries = sections.flatMap((section) => section.entries);
  const loaded = await Promise.all(
    entries.map(async ({ name, load }) => ({ name, of: await load() })),
  );
  return loaded.flatMap(({ name, of }) =>
    'commands' in of
      ? of.commands.map((command) => ({ path: `${name} ${command.name}`, command }))
      : [{ path: name, command: of }],
  );
};
