import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A secret that was planted, or that the daemon made, and the door through which it came. */
export interface Canary {
  door: string;
  /** What of it no encoding of a text changes: letters and digits. Or what a text encodes. */
  core: Buffer;
}

/** Where canaries are looked for, piece by piece. */
export interface Place {
  where: string;
  held: Buffer;
}

/** The doors whose canaries stand there, in whatever writing: `vault api_key in GET /api/vault`. */
export const leaksIn = (places: Place[], canaries: Canary[]): string[] => {
  const forms = canaries.flatMap(({ door, core }) =>
    formsOf(core).map((form) => ({ door, form: form.toString('latin1') })),
  );
  const beginnings = new Set(forms.map(({ form }) => escaped(form.slice(0, BEGINNING))));
  const pattern = new RegExp([...beginnings].join('|'), 'g');
  return places.flatMap(({ where, held }) => {
    const text = held.toString('latin1');
    const doors = new Set<string>();
    pattern.lastIndex = 0;
    for (let hit = pattern.exec(text); hit !== null; hit = pattern.exec(text)) {
      const { index } = hit;
      for (const { door, form } of forms) if (text.startsWith(form, index)) doors.add(door);
      pattern.lastIndex = index + 1;
    }
    return [...doors].map((door) => `${door} in ${where}`);
  });
};

/** Characters of a form that one pass over a place looks for: hundreds of forms, many megabytes. */
const BEGINNING = 8;
const escaped = (text: string): string =>
  text.replace(/[^a-z0-9]/gi, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

/**
 * Letters and digits stand unchanged in JSON and in addresses; in base64 they look otherwise by how
 * many bytes are before them.
 */
const formsOf = (bytes: Buffer): Buffer[] => {
  const core = bytes.toString('latin1');
  const hex = bytes.toString('hex');
  const shifted = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const span = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)] as const;
    return [padded.toString('base64').slice(...span), padded.toString('base64url').slice(...span)];
  });
  const utf16 = Buffer.from(core, 'utf16le');
  const texts = [core, core.toUpperCase(), hex, hex.toUpperCase(), ...shifted];
  return [...texts.map((text) => Buffer.from(text, 'latin1')), utf16];
};

/** Every file below a folder. */
export const filesUnder = async (folder: string): Promise<Place[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return { where: path.slice(folder.length + 1), held: await readFile(path) };
    }),
  );
};
