import { setFlagsFromString } from 'node:v8';
import { readSession, usesScreenReader } from '../../src/client/session.js';
import { type Context, command, switchFlag, textFlag } from '../command.js';
import { failed, usageFault } from '../exit.js';

/**
 * Small rather than fast, because the desk mostly waits. The heap is collected before it grows,
 * the young generation keeps its size, nothing is compiled before it is called or optimized
 * later: at most 90 MB instead of 140, at the same CPU share (`npm run bench:tui`).
 */
const SMALL = ['--optimize-for-size', '--semi-space-growth-factor=1', '--max-lazy', '--no-opt'];

/** `tui/` is loaded only here. Line mode needs neither Ink nor React. */
export const tui = command({
  name: 'tui',
  args: '',
  summary: 'Open the interactive terminal interface',
  examples: ['', '--theme light', '--ascii', '--accessible'],
  flags: {
    theme: textFlag(
      '<name>',
      'Theme: dark, light, contrast or mono. Defaults to the theme of the terminal',
    ),
    ascii: switchFlag(
      'Use only ASCII characters, for terminals that display other characters too wide',
    ),
    bell: switchFlag('Ring the terminal bell when a tool call requires your approval'),
    accessible: switchFlag('Use line mode, for screen readers'),
  },
  notes: [
    '? shows the keys, : finds everything, q quits. NO_COLOR is respected.',
    'ADJUTANT_BELL=1 works like --bell. Simultaneous calls ring once.',
  ],
  seeAlso: 'approvals watch, agents tail, help accessibility',
  run: async (context, { flags }) => {
    const { setProductionEnv, terminalSettings, isThemeName } = await import(
      '../../tui/environment.js'
    );
    const { theme = null, ascii = false, bell = false, accessible = false } = flags;
    if (theme !== null && !isThemeName(theme)) {
      throw usageFault('--theme must be one of dark, light, contrast, mono');
    }
    const { url, token } = context;
    const program = [process.execPath, ...process.argv.slice(1, 2)] as const;
    if (accessible || usesScreenReader()) {
      const { openLinear } = await import('../../tui/linear/desk.js');
      const { stdin, stdout } = context.streams;
      context.exitCode = await openLinear({ url, token, stdin, stdout, program });
      return;
    }
    const tty = requireTerminal(context);
    setProductionEnv();
    for (const flag of SMALL) setFlagsFromString(flag);
    const { runDesk: openDesk } = await import('../../tui/main.js');
    const isRinging = bell || terminalSettings().isRinging;
    const loginName = readSession(url)?.username ?? null;
    const face = { theme, isAscii: ascii, isRinging };
    context.exitCode = await openDesk({ url, token, loginName, tty, ...face, program });
  },
});

const requireTerminal = ({ streams }: Context) => {
  const { stdin, stdout } = process;
  const isTerminal = stdin.isTTY && stdout.isTTY && streams.stdin === stdin;
  if (!isTerminal) {
    throw failed(
      'The interactive interface (adjutant tui) requires a terminal.',
      'In a pipe: adjutant tui --accessible, or adjutant status --json',
    );
  }
  return { stdin, stdout };
};
