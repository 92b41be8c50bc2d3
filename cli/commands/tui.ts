import { setFlagsFromString } from 'node:v8';
import { command, on, text } from '../command.js';
import type { Context } from '../context.js';
import { failed, usage } from '../exit.js';

/**
 * Ours: small rather than fast, for what waits most of the time. The heap is collected before it
 * has grown, the young generation stays as it is, nothing is compiled before it is called, and
 * nothing is compiled twice: 90 MB at the most instead of 140, at the same share of a core
 * (`npm run bench:tui`).
 */
const SMALL = ['--optimize-for-size', '--semi-space-growth-factor=1', '--max-lazy', '--no-opt'];

/** The desk in this process. `tui/` is loaded only here: Ink and React are slow to load. */
export const tui = command({
  name: 'tui',
  args: '',
  summary: 'Watch and steer everything on one screen',
  examples: ['tui', 'tui --theme light', 'tui --ascii', 'tui --url http://127.0.0.1:3006'],
  flags: {
    theme: text('<name>', 'dark, light, contrast or mono; else by what the terminal says'),
    ascii: on('No glyph outside ASCII, for terminals that draw some of them too wide'),
    accessible: on('Line by line, for a screen reader'),
  },
  notes: ['? shows the keys, : finds everything, q leaves. NO_COLOR is heeded.'],
  seeAlso: 'approvals watch, agents tail',
  run: async (context, { flags }) => {
    const { forProduction, given, isThemeName } = await import('../../tui/surroundings.js');
    const { theme = null, ascii = false, accessible = false } = flags;
    if (theme !== null && !isThemeName(theme)) {
      throw usage('--theme is one of dark, light, contrast, mono');
    }
    if (accessible || given().isAccessible) throw notYet();
    const tty = terminalOf(context);
    forProduction();
    for (const flag of SMALL) setFlagsFromString(flag);
    const { openDesk } = await import('../../tui/main.js');
    const { url, token } = context;
    const program = [process.execPath, ...process.argv.slice(1, 2)] as const;
    context.exitCode = await openDesk({ url, token, tty, theme, isAscii: ascii, program });
  },
});

const notYet = (): Error =>
  failed(
    'Not built yet: the desk line by line.',
    'Approvals so: adjutant approvals watch      One agent so: adjutant agents tail <agent>',
  );

const terminalOf = ({ streams }: Context) => {
  const { stdin, stdout } = process;
  const isTerminal = stdin.isTTY && stdout.isTTY && streams.stdin === stdin;
  if (!isTerminal) {
    throw failed('The desk needs a terminal.', 'In a pipe: adjutant status --json');
  }
  return { stdin, stdout };
};
