import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A stand-in for a person at an editor. */
export interface Editor {
  /** What it does to the file, one call after the other: expressions of sed. */
  script(...turns: string[]): Promise<void>;
  /** What it found in the file, call by call. */
  seen(): Promise<string[]>;
  /** Where the last file was, and who might read it: `600`. */
  last(): Promise<{ path: string; mode: string }>;
  close(): Promise<void>;
}

const NAMES = ['VISUAL', 'EDITOR'] as const;

const PROGRAM = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
turn=$(ls seen.* 2>/dev/null | wc -l)
cp "$1" "seen.$turn"
echo "$1" > path
stat -c %a "$1" > mode
[ -f "turn.$turn" ] || exit 0
sed -i -f "turn.$turn" "$1"
`;

/** In place of `$EDITOR` until it is closed. */
export const openEditor = async (): Promise<Editor> => {
  const before = NAMES.map((name) => [name, process.env[name]] as const);
  for (const name of NAMES) delete process.env[name];
  let folder = '';
  const clear = async (): Promise<void> => {
    if (folder !== '') await rm(folder, { recursive: true });
    folder = await mkdtemp(join(tmpdir(), 'adjutant-editor-'));
    const program = join(folder, 'editor');
    await writeFile(program, PROGRAM);
    await chmod(program, 0o700);
    process.env.EDITOR = program;
  };
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  await clear();
  return {
    script: async (...turns) => {
      await clear();
      for (const [at, turn] of turns.entries()) await writeFile(join(folder, `turn.${at}`), turn);
    },
    seen: async () => {
      const texts: string[] = [];
      for (let at = 0; ; at += 1) {
        const text = await read(`seen.${at}`).catch(() => null);
        if (text === null) return texts;
        texts.push(text);
      }
    },
    last: async () => ({ path: (await read('path')).trim(), mode: (await read('mode')).trim() }),
    close: async () => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      await rm(folder, { recursive: true });
    },
  };
};
