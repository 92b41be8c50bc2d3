import { execFile, execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { until } from './app.js';

const run = promisify(execFile);

export interface TmuxOptions {
  width: number;
  height: number;
  env: Record<string, string>;
}

/** A terminal with a shell. */
export interface Tmux {
  /** Types keys one after the other: `Enter`, `C-c` and letters. */
  keys(...keys: string[]): Promise<void>;
  line(text: string): Promise<void>;
  /** Screen content, once it contains the text. */
  wait(text: string): Promise<string>;
  /** Types keys and waits for the text. */
  shows(text: string, ...keys: string[]): Promise<string>;
  frame(): Promise<string>;
  /** With colours, as SGR codes. */
  styled(): Promise<string>;
  resize(width: number, height: number): Promise<void>;
  /** Value of a format such as `#{alternate_on}`. */
  tell(format: string): Promise<string>;
  /** Process id of the foreground program with that word in its command line. */
  pidOf(word: string): Promise<number>;
  /** Raw output from now on, and immediate key presses. */
  attach(hear: (output: string) => void): { press(key: string): void };
  close(): Promise<void>;
}

/** Why tmux cannot run here. `null` if it can. */
export const tmuxMissing = (): string | null => {
  try {
    execFileSync('tmux', ['-V']);
    return null;
  } catch {
    return 'tmux is not installed here';
  }
};

const TYPING_MS = 40;
/** A key right after an escape would be Alt and that key. */
const ESCAPE_MS = 150;

export const openTmux = async ({ width, height, env }: TmuxOptions): Promise<Tmux> => {
  const socket = `adjutant-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const tmux = async (...args: string[]): Promise<string> =>
    (await run('tmux', ['-L', socket, ...args])).stdout;
  const set = Object.entries({ PS1: 'ready$ ', LANG: 'C.UTF-8', ...env });
  const shell = [
    'env',
    ...set.map(([name, value]) => `${name}=${value}`),
    'bash',
    '--norc',
    '--noprofile',
  ];
  const size = ['-x', String(width), '-y', String(height)];
  await tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'test', ...size, ...shell);
  const frame = () => tmux('capture-pane', '-p', '-t', 'test');
  const wait = (text: string) => until(frame, (shown) => shown.includes(text));
  const typeKeys = async (...keys: string[]): Promise<void> => {
    for (const key of keys) {
      await tmux('send-keys', '-t', 'test', key);
      await new Promise((resolve) => setTimeout(resolve, key === 'Escape' ? ESCAPE_MS : TYPING_MS));
    }
  };
  const pane = Number(await tmux('display', '-p', '-t', 'test', '#{pane_pid}'));
  await wait('ready$');
  return {
    frame,
    styled: () => tmux('capture-pane', '-e', '-p', '-t', 'test'),
    wait,
    keys: typeKeys,
    shows: async (text, ...keys) => {
      await typeKeys(...keys);
      return wait(text);
    },
    line: async (text) => {
      await tmux('send-keys', '-t', 'test', '-l', text);
      await tmux('send-keys', '-t', 'test', 'Enter');
    },
    resize: async (columns, rows) => {
      await tmux('resize-window', '-t', 'test', '-x', String(columns), '-y', String(rows));
    },
    tell: async (format) => (await tmux('display', '-p', '-t', 'test', format)).trim(),
    pidOf: async (word) => {
      const { stdout } = await run('ps', ['-o', 'pid=,args=', '--ppid', String(pane)]);
      const line = stdout.split('\n').find((each) => each.includes(word));
      return Number.parseInt(line ?? '', 10);
    },
    attach: (hear) => {
      // A tmux client with a line protocol, so that no program is started for each key.
      const client = spawn('tmux', ['-L', socket, '-C', 'attach', '-t', 'test'], {
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      client.stdin.on('error', () => {});
      createInterface({ input: client.stdout }).on('line', (line) => {
        const output = /^%output %\d+ (.*)$/.exec(line)?.[1];
        if (output !== undefined) hear(unescaped(output));
      });
      return { press: (key) => void client.stdin.write(`send-keys -t test '${key}'\n`) };
    },
    close: async () => {
      await tmux('kill-server');
    },
  };
};

const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
