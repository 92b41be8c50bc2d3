import { writeFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unlockLine } from '../../cli/documents/document.js';
import { openWorld, type World } from '../cli/world.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const PAYLOAD = '{"title":"Grüße"}';

/** The encodings of PowerShell and of editors on Windows. */
const FORMS: [form: string, bytes: Buffer][] = [
  ['UTF-8', Buffer.from(PAYLOAD)],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${PAYLOAD}`)],
  ['UTF-16 with a mark', Buffer.from(`\ufeff${PAYLOAD}`, 'utf16le')],
  ['UTF-16 without a mark', Buffer.from(PAYLOAD, 'utf16le')],
  ['UTF-16, big endian', Buffer.from(`\ufeff${PAYLOAD}`, 'utf16le').swap16()],
];

describe('files that a command reads', () => {
  let world: World;
  let file: string;
  before(async () => {
    world = await openWorld();
    file = await world.file('payload.json', PAYLOAD);
    const trigger = ['--trigger', 'webhook', '--webhook-path', 'one'];
    const action = ['--action', 'notify', '--notify-message', '{{webhook.body.title}}'];
    await world.cli(['hooks', 'create', '--name', 'one', ...trigger, ...action]);
  });
  after(() => world.stop());

  const shown = async (words: string[]) => {
    const { stdout, stderr } = await world.cli([...words, '--json']);
    return stdout === '' ? stderr : JSON.parse(stdout);
  };

  it('may be in any Unicode encoding', async () => {
    for (const [form, bytes] of FORMS) {
      await writeFile(file, bytes);
      const { rendered } = await shown(['hooks', 'test', 'one', file, '--dry-run']);
      expect(rendered?.body, form).to.equal('Grüße');
      const task = await shown(['api', 'POST', '/api/tasks', '--data', `@${file}`]);
      expect(task.title, form).to.equal('Grüße');
    }
  });

  it('are refused in another encoding', async () => {
    await writeFile(file, Buffer.from(PAYLOAD, 'latin1'));
    const { code, stderr } = await world.cli(['hooks', 'test', 'one', file]);
    expect([code, stderr]).to.equal([
      2,
      `${file} is not text in UTF-8 or UTF-16. Save the file as UTF-8.\n`,
    ]);
    const data = await world.cli(['hooks', 'create', '--data', `@${file}`]);
    expect([data.code, data.stderr]).to.equal([
      2,
      'The input of --data is not text in UTF-8 or UTF-16. Save it as UTF-8.\n',
    ]);
  });
});

describe('a locked file that is uploaded', () => {
  const world = openForSuite(lab, openWorld);

  it('can be unlocked with a password if it is a PDF file, and no other one', async () => {
    const path = await world.file('locked.xlsx', '');
    await writeFile(
      path,
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]),
    );
    const { code, stderr } = await world.cli(['documents', 'upload', path]);
    expect([code, stderr]).to.equal([
      1,
      'locked.xlsx: The file is password-protected or in an old Office format. Remove the password from the file. An uploaded PDF file can also be reprocessed with the password\nUploaded and read: 0 documents.\n',
    ]);
    const { documents } = await world.client.documents.list();
    expect(unlockLine(documents)).to.be.undefined();
    const pdf = documents.map((row) => ({ ...row, mediaType: 'application/pdf' }));
    expect(unlockLine(pdf)).to.match(
      /^Unlock it: adjutant documents reprocess \w{6} --password-file -$/,
    );
  });
});
