import { readFile } from 'node:fs/promises';
import { nearest } from '../../src/kernel/nearest.js';
import { command } from '../command.js';
import { entriesBelow, entryNames, findCommandEntry, sections } from '../entries.js';
import { usageFault } from '../exit.js';
import { commandHelp, groupHelp, topHelp } from '../help.js';
import { chooseCommand, getCommandPath } from '../program.js';
import { readTopic, TOPICS } from '../topics.js';

const names = [...TOPICS, 'environment'];

export const help = command({
  name: 'help',
  args: '[command] [verb] [subverb]',
  summary: 'Show help on a command or a topic',
  examples: ['', 'webhooks', 'hooks create'],
  notes: [`Topics: ${names.join(', ')}`],
  run: async ({ out }, { args }) => {
    const words = [args.command, args.verb, args.subverb].filter((word) => word !== undefined);
    out.line((await textFor(words)).trimEnd());
  },
});

const textFor = async (words: string[]): Promise<string> => {
  const [word, verb] = words;
  if (word === undefined) return topHelp(sections, names);
  const topic = readTopic(word);
  // A topic and a command may share a name. With a verb, the command is meant.
  if (topic && verb === undefined) return topic.join('\n');
  if (word === 'environment') return (await import('./environment.js')).environment().join('\n');
  if (!findCommandEntry(words)) {
    const meant = nearest(word, [...entryNames(), ...names]);
    const question = meant ? ` Did you mean: adjutant help ${meant}` : '';
    throw usageFault(`Unknown command or topic "${word}".${question}`, 'List all: adjutant help');
  }
  const chosen = await chooseCommand(words);
  if (chosen.command) return commandHelp(getCommandPath(chosen), chosen.command);
  return chosen.group ? groupHelp(chosen.entry, chosen.group, entriesBelow(chosen.entry.name)) : '';
};

const SHELLS = ['bash', 'zsh', 'fish'];

export const completion = command({
  name: 'completion',
  args: '<shell>',
  summary: 'Print a completion script for your shell',
  examples: [
    'bash > ~/.local/share/bash-completion/completions/adjutant',
    'zsh > ~/.zfunc/_adjutant',
    'fish > ~/.config/fish/completions/adjutant.fish',
  ],
  values: { shell: SHELLS },
  notes: [
    `Shells: ${SHELLS.join(', ')}. For the current shell only: eval "$(adjutant ` +
      'completion bash)"',
    'Names are requested from the daemon and cached for 30 seconds in your cache folder.',
  ],
  run: async ({ out }, { args: { shell } }) => {
    if (!SHELLS.includes(shell)) {
      throw usageFault(`No completion for "${shell}".`, `Shells: ${SHELLS.join(', ')}`);
    }
    const script = await readFile(
      new URL(`../completion/adjutant.${shell}`, import.meta.url),
      'utf8',
    );
    out.line(script.trimEnd());
  },
});
