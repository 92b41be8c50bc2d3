import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type EditorOutcome, writeIn } from '../cli/editor.js';
import { inForeground, renewRawMode } from '../cli/foreground.js';
import type { Painter } from './painter.js';
import { RESTORE, type Watchdog } from './watchdog.js';

/** The streams of the terminal on which the desk was started. */
export interface Tty {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
}

export interface TerminalDeps {
  tty: Tty;
  watchdog: Watchdog | null;
  /** Begins or ends the reading of keys. */
  listen(isListening: boolean): void;
  painter(): Painter | null;
  /** The program and its first words; the words of a command are added to them. */
  program: readonly [string, ...string[]];
  /** Returns the environment for a command, so that it uses the same daemon as the same user. */
  environment(): NodeJS.ProcessEnv;
  isInTmux: boolean;
}

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?2004h\u001b[?1004h\u001b[?1007h\u001b[2J\u001b[H';

/** The full screen of the terminal: entered, given up for a while, and restored for good. */
export type Terminal = ReturnType<typeof createTerminal>;

export const createTerminal = (deps: TerminalDeps) => {
  const { tty, watchdog, program } = deps;
  const { stdin, stdout } = tty;
  let isOurs = false;

  const enter = (): void => {
    isOurs = true;
    process.off('SIGCONT', resume).on('SIGCONT', resume);
    watchdog?.hold(true);
    stdin.setRawMode(true);
    stdout.write(ENTER);
    deps.listen(true);
    deps.painter()?.pause(false);
  };
  /** Takes the terminal anew after a stop by another process, in which the shell had it. */
  const resume = (): void => {
    renewRawMode(stdin);
    enter();
  };
  /** Restores the terminal to the state in which it was found. May be called twice. */
  const restore = (): void => {
    if (!isOurs) return;
    isOurs = false;
    process.off('SIGCONT', resume);
    deps.painter()?.pause(true);
    deps.listen(false);
    stdout.write(RESTORE);
    stdin.setRawMode(false);
    watchdog?.hold(false);
  };
  const away = async <T>(act: () => Promise<T>): Promise<T> => {
    restore();
    try {
      return await act();
    } finally {
      enter();
    }
  };
  /**
   * Runs `act` in the plain terminal, then waits for enter, so that the output can be read before
   * the desk covers it again.
   */
  const untilRead = (act: () => Promise<unknown>): Promise<void> =>
    away(async () => {
      await act();
      await pressed(tty, 'Press enter to return to the desk ');
    });

  return {
    enter,
    restore,
    /** Copies the text to the clipboard of the terminal. The terminal does not confirm it. */
    copy: (text: string): void => {
      stdout.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
      if (deps.isInTmux) toTmux(text);
    },
    /** Rings, unless another program has the terminal. */
    ring: (): void => {
      if (isOurs) stdout.write('\u0007');
    },
    /** Runs a command of the CLI in the terminal until it ends. */
    leave: (words: readonly string[]): Promise<void> =>
      untilRead(() => {
        stdout.write(`$ adjutant ${words.join(' ')}\n`);
        return inForeground([...program, ...words], { env: deps.environment() });
      }),
    /** Opens the text in the user's own editor. */
    write: (text: string): Promise<EditorOutcome> => away(() => writeIn('message.md', text)),
    /** Prints the lines to the plain terminal and waits for enter. */
    print: (lines: readonly string[]): Promise<void> =>
      untilRead(async () => {
        stdout.write(`${lines.join('\n')}\n`);
      }),
    suspend: (): void => {
      restore();
      process.once('SIGCONT', enter);
      process.kill(process.pid, 'SIGTSTP');
    },
  };
};

/** Passes the text to tmux, which otherwise does not pass on the clipboard sequence. */
const toTmux = (text: string): void => {
  const child = spawn('tmux', ['load-buffer', '-w', '-'], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.stdin.end(text);
};

const pressed = ({ stdin, stdout }: Tty, question: string): Promise<void> =>
  new Promise((resolve) => {
    const reader = createInterface({ input: stdin, output: stdout });
    const end = (): void => {
      reader.close();
      resolve();
    };
    reader.once('SIGINT', end);
    reader.question(question, end);
  });
