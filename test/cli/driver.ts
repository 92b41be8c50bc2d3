import { openSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { run } from '../../cli/main.js';

/** One command line. */
export interface Line {
  path: string;
  words: string[];
  stdin: string;
  /** ^C, once it has said what this matches. */
  until: string | null;
}

/** Stands between the screens of two commands. */
export const SEPARATOR = '\u001e';
/** A file that never is. It is opened before each command, so that a trace tells them apart. */
export const MARK = '/adjutant-begins/';

/**
 * Runs command lines at the terminal that it was started on, as the server at that address gives
 * them out, until it has no more; tells what the one before ended with.
 */
const drive = async (url: string): Promise<void> => {
  let until: RegExp | null = null;
  const heard = (text: string | Uint8Array): void => {
    if (until?.test(String(text))) setImmediate(() => process.emit('SIGINT'));
  };
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = (text: string | Uint8Array) => {
      heard(text);
      return write(text);
    };
  }
  for (let code = 0; ; ) {
    const answer = await fetch(`${url}/${code}`);
    if (answer.status === 204) return;
    const line: Line = JSON.parse(await answer.text());
    until = line.until === null ? null : new RegExp(line.until);
    mark(line.path);
    const stdin = new PassThrough().end(line.stdin);
    code = await run(line.words, { stdin, stdout: process.stdout, stderr: process.stderr });
    process.stdout.write(SEPARATOR);
  }
};

const mark = (path: string): void => {
  try {
    openSync(MARK + path, 'r');
  } catch {
    // It is not there, as was said.
  }
};

const [, script = '', url] = process.argv;
if (script.endsWith('/driver.js') && url) await drive(url);
