import { setFlagsFromString } from 'node:v8';
import { isReadAloud, readSession } from '../../src/client/session.js';
import { type Context, command, on, textFlag } from '../command.js';
import { failed, usageFault } from '../exit.js';

/**
 * Ours: small rather than fast, for what waits most of the time. The heap is collected before it
 * has grown, the young generation stays as it is, nothing is compiled before it is called, and
 * nothing is compiled twice: 90 MB at the most instead of 140, at the same share of a core
 * (`npm run bench:tui`).
 */
const SMALL = ['--optimize-for-size', '--semi-space-growth-factor=1', '--max-lazy', '--no-opt'];

/** The desk in this process. `tui/` is loaded only here; line by line, without Ink and React. */
export const tui = command({
  name: 'tui',
  args: '',
  summary: 'Watch and steer everything on one screen',
  examples: ['', '--theme light', '--ascii', '--accessible'],
  flags: {
    theme: textFlag('<name>', 'dark, light, contrast or mono; else by what the terminal says'),
    ascii: on('No glyph outside ASCII, for terminals that draw some of them too wide'),
    bell: on('Ring the bell of the terminal when a call of an agent begins to wait for you'),
    accessible: on('Line by line, for a screen reader'),
  },
  notes: [
    '? shows the keys, : finds everything, q leaves. NO_COLOR is heeded.',
    'ADJUTANT_BELL=1 rings as --bell does; calls that come together ring once.',
  ],
  seeAlso: 'approvals watch, agents tail, help accessibility',
  run: async (context, { flags }) => {
    const { forProduction, terminalSettings, isThemeName } = await import(
      '../../tui/environment.js'
    );
    const { theme = null, ascii = false, bell = false, accessible = false } = flags;
    if (theme !== null && !isThemeName(theme)) {
      throw usageFault('--theme is one of dark, light, contrast, mono');
    }
    const { url, token } = context;
    const program = [process.execPath, ...process.argv.slice(1, 2)] as const;
    if (accessible || isReadAloud()) {
      const { openLinear } = await import('../../tui/linear/desk.js');
      const { stdin, stdout } = context.streams;
      context.exitCode = await openLinear({ url, token, stdin, stdout, program });
      return;
    }
    const tty = terminalOf(context);
    forProduction();
    for (const flag of SMALL) setFlagsFromString(flag);
    const { runDesk: openDesk } = await import('../../tui/main.js');
    const isRinging = bell || terminalSettings().isRinging;
    const loginName = readSession(url)?.username ?? null;
    const face = { theme, isAscii: ascii, isRinging };
    context.exitCode = await openDesk({ url, token, loginName, tty, ...face, program });
  },
});

const terminalOf = ({ streams }: Context) => {
  const { stdin, stdout } = process;
  const isTerminal = stdin.isTTY && stdout.isTTY && streams.stdin === stdin;
  if (!isTerminal) {
    throw failed(
      'The desk needs a terminal.',
      'In a pipe: adjutant tui --accessible, or adjutant status --json',
    );
  }
  return { stdin, stdout };
};
