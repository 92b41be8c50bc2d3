import { execFileSync, spawn } from 'node:child_process';

export const RESTORE =
  '\u001b[?2026l\u001b[?7h\u001b[?1004l\u001b[?1007l\u001b[?2004l\u001b[0m\u001b[?25h\u001b[?1049l';

export interface Watchdog {
  /** Whether the desk has the screen, so that it would have to be restored. */
  hold(isHeld: boolean): void;
  dismiss(): void;
}

/**
 * Reads from a pipe. If the pipe closes without "ok" (kill -9, heap exhaustion), it restores the
 * terminal. It ignores the signals that end the rest of its process group.
 */
const SCRIPT = `
trap '' INT TERM HUP QUIT TSTP TTOU TTIN
state=free
while IFS= read -r word; do
  case "$word" in ok) exit 0 ;; *) state=$word ;; esac
done
[ "$state" = held ] || exit 0
printf '%b' "$1"
stty "$2" <&1 2>/dev/null
`;

/** `null` without a shell or stty. */
export const startWatchdog = (): Watchdog | null => {
  const mode = readTerminalMode();
  if (mode === null) return null;
  const restore = RESTORE.replaceAll('\u001b', '\\033');
  const shell = spawn('sh', ['-c', SCRIPT, 'sh', restore, mode], {
    stdio: ['pipe', 'inherit', 'ignore'],
  });
  // The desk also works without the watchdog.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  return {
    hold: (isHeld) => void shell.stdin.write(isHeld ? 'held\n' : 'free\n'),
    dismiss: () => void shell.stdin.end('ok\n'),
  };
};

const readTerminalMode = (): string | null => {
  try {
    const stdio: ['inherit', 'pipe', 'ignore'] = ['inherit', 'pipe', 'ignore'];
    return execFileSync('stty', ['-g'], { stdio }).toString().trim();
  } catch {
    return null;
  }
};
