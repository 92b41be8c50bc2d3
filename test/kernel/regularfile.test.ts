import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createOriginals } from '../../src/documents/originals.js';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { readParts } from '../../src/providers/gguf/parts.js';
import { createMcpFile } from '../../src/skills/mcpfile.js';
import { withBackup } from '../../src/system/backup/reader.js';
import { replaceByPipe, watchPipe } from '../harness/pipe.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('a pipe in place of a file', () => {
  let folder: string;
  let path: string;
  /** Open at both ends, so that an open of it ends. */
  let ends: FileHandle;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pipe-'));
    path = join(folder, 'file');
    await replaceByPipe(path);
    ends = await open(path, 'r+');
  });
  afterEach(async () => {
    await ends.close();
    await rm(folder, { recursive: true });
  });

  it('is no model', () => {
    expect(() => readParts([path])).to.throw('The file is not a regular file');
  });

  it('is no backup', async () => {
    const options = { file: path, passphrase: 'a passphrase', schemas: [] };
    await expect(withBackup(options, { step: () => {} } as never, async () => undefined)).to.reject(
      'The file is not a valid backup: it is not a regular file. Use another backup',
    );
  });

  it('is no list of MCP servers', async () => {
    await ends.close();
    const [seen, servers] = await watchPipe(path, createMcpFile(path)());
    ends = await open(path, 'r+');
    expect([seen, servers]).to.equal([
      'ended',
      [{ name: 'mcp.json', fault: 'The file is not a regular file' }],
    ]);
  });

  it('is no original of a document', async () => {
    const originals = createOriginals(folder, join(folder, 'scratch'));
    const sha256 = 'ab'.repeat(32);
    const own = originals.pathOf('user', sha256);
    makePrivateFolder(dirname(own));
    await replaceByPipe(own);
    expect(await originals.sizeOf('user', sha256)).to.be.null();
    await rm(own);
    await writeFile(own, 'text');
    expect(await originals.sizeOf('user', sha256)).to.equal(4);
  });
});
