import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findLocalFiles } from '../../cli/documents/files.js';
import { CliFault } from '../../cli/exit.js';
import { readFlagFile, readLocalFile } from '../../cli/localfile.js';
import { adjutant } from './harness.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('a file of the command line', () => {
  let folder: string;
  let pipe: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-local-'));
    pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
  });
  after(() => rm(folder, { recursive: true }));

  it('is refused by name if it is a named pipe, a socket or a device', async () => {
    const path = join(folder, 'socket');
    const server = createServer().listen(path);
    await once(server, 'listening');
    const special: [path: string, kind: string][] = [
      ...[[pipe, 'named pipe'] as [string, string], [path, 'socket'] as [string, string]],
      ['/dev/zero', 'device'],
    ];
    for (const [file, kind] of special) {
      const message = `${file} is a ${kind}. Pass a file.`;
      await expect(readLocalFile(file)).to.reject(CliFault, message);
      await expect(findLocalFiles(file)).to.reject(CliFault, message);
      expect(() => readFlagFile('--data', file)).to.throw(CliFault, message);
    }
    for (const words of [
      ['backup', 'restore', pipe],
      ['backup', 'verify', pipe],
      ['whoami', '--server-token-file', pipe],
    ]) {
      const { code, stderr } = await adjutant([...words, '--home', folder]);
      expect([words, code, stderr.includes('is a named pipe. Pass a file.')], stderr).to.equal([
        ...[words, 2, true],
      ]);
    }
    server.close();
  });

  it('is read if it is a pipe of this process, or empty', async () => {
    expect(await readLocalFile('/dev/null')).to.equal(Buffer.alloc(0));
    const program = `import { readLocalFile } from '${new URL('../../cli/localfile.js', import.meta.url)}';
      process.stdout.write(await readLocalFile(process.argv[1]));`;
    const file = join(folder, 'read.mjs');
    await writeFile(file, program);
    const words = `"$0" --input-type=module -e "$(cat ${file})" <(cat; echo passphrase)`;
    const output = execFileSync('bash', ['-c', words, process.execPath], { input: 'a ' });
    expect(output.toString()).to.equal('a passphrase\n');
  });

  it('is named with the reason if it cannot be read', async () => {
    const missing = join(folder, 'missing');
    await expect(readLocalFile(missing)).to.reject(CliFault, `Cannot read ${missing} (ENOENT).`);
    await expect(readLocalFile(folder)).to.reject(CliFault, `Cannot read ${folder} (EISDIR).`);
  });
});
