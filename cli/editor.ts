import { rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { editorCommand } from './daemon/environment.js';
import { inForeground } from './foreground.js';

export type EditorOutcome = { is: 'written'; text: string } | { is: 'refused'; reason: string };

const NONE = 'No editor is set. Set EDITOR, for example: export EDITOR=nano';
const PRIVATE = 0o600;

/**
 * Opens a text in `$VISUAL` or `$EDITOR` on this terminal and returns the saved text. The file is
 * private and always deleted. Never use it for a secret.
 */
export const writeIn = async (name: string, text: string): Promise<EditorOutcome> => {
  const editor = editorCommand();
  if (editor === undefined) return { is: 'refused', reason: NONE };
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-'));
  const forget = (): void => rmSync(folder, { recursive: true, force: true });
  const stop = onEnd(forget);
  try {
    const file = join(folder, name);
    await writeFile(file, text, { mode: PRIVATE });
    return await written(editor, file);
  } finally {
    stop();
    forget();
  }
};

const written = async (editor: string, file: string): Promise<EditorOutcome> => {
  // The variable holds a shell command: `code --wait`. Its output goes to the terminal.
  const stdio = ['inherit', process.stdout.isTTY ? 'inherit' : process.stderr, 'inherit'] as const;
  const code = await inForeground(['sh', '-c', `${editor} "$1"`, 'sh', file], {
    stdio: [...stdio],
  });
  if (code !== 0) {
    const reason = `${editor} exited with ${code ?? 'a signal'}: the edited text was discarded`;
    return { is: 'refused', reason };
  }
  try {
    return { is: 'written', text: await readFile(file, 'utf8') };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return { is: 'refused', reason: `${editor} left no file: no text was read` };
  }
};

const SIGNALS = ['SIGTERM', 'SIGHUP'] as const;

/**
 * Calls back once when the process ends, by itself or by a signal. Returns a function that
 * cancels this.
 */
const onEnd = (tell: () => void): (() => void) => {
  const bySignal = SIGNALS.map((signal) => {
    const end = (): void => {
      tell();
      process.exit(128 + constants.signals[signal]);
    };
    process.prependOnceListener(signal, end);
    return () => process.off(signal, end);
  });
  process.once('exit', tell);
  return () => {
    for (const stop of bySignal) stop();
    process.off('exit', tell);
  };
};
