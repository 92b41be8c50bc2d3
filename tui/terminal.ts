import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type EditorOutcome, writeIn } from '../cli/editor.js';
import { inForeground, renewRawMode } from '../cli/foreground.js';
import type { Painter } from './painter.js';
import { RESTORE, type Watchdog } from './watchdog.js';

export interface Tty {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
}

export interface TerminalDeps {
  tty: Tty;
  watchdog: Watchdog | null;
  listen(isListening: boolean): void;
  painter(): Painter | null;
  /** Program and first arguments of a command. */
  program: readonly [string, ...string[]];
  /** Environment for a command, so that it uses the same daemon as the same user. */
  environment(): NodeJS.ProcessEnv;
  isInTmux: boolean;
}

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?2004h\u001b[?1004h\u001b[?1007h\u001b[2J\u001b[H';

/** Full-screen mode of the terminal. */
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
  /** Takes the terminal again after another process stopped the desk. */
  const resume = (): void => {
    renewRawMode(stdin);
    enter();
  };
  /** May be called twice. */
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
  /** Waits for enter, so that the output can be read before the desk covers it. */
  const untilRead = (act: () => Promise<unknown>): Promise<void> =>
    away(async () => {
      await act();
      await pressed(tty, 'Press enter to return to the desk ');
    });

  return {
    enter,
    restore,
    /** The terminal does not confirm the copy. */
    copy: (text: string): void => {
      stdout.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
      if (deps.isInTmux) toTmux(text);
    },
    ring: (): void => {
      if (isOurs) stdout.write('\u0007');
    },
    leave: (words: readonly string[]): Promise<void> =>
      untilRead(() => {
        stdout.write(`$ adjutant ${words.join(' ')}\n`);
        return inForeground([...program, ...words], { env: deps.environment() });
      }),
    write: (text: string): Promise<EditorOutcome> => away(() => writeIn('message.md', text)),
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

/** Without this, tmux does not pass on the clipboard sequence. */
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
