import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('what is indexed', () => {
  const world = openForSuite(lab, openWorld);

  it('is the readable text of a web page in a file', async () => {
    const html = '<html><body><h1>Tides</h1><p>The <b>pier</b> floods.</p></body></html>';
    const sent = await world.cli(['knowledge', 'index', await world.file('tides.html', html)]);
    expect([sent.code, sent.stderr]).to.equal([0, 'Uploaded and read: 1 document.\n']);
    const { documents } = await world.client.documents.list();
    expect(documents.map(({ filename }) => filename)).to.equal(['tides.html']);
    const { entries } = await world.client.knowledge.list();
    const { content } = await world.client.knowledge.get({ id: entries[0]?.id ?? '' });
    expect(content.trim()).to.equal('# Tides\n\nThe pier floods.');
  });

  it('is a document that is named by its file name, or the end of its id', async () => {
    const { documents } = await world.client.documents.list();
    const id = documents[0]?.id ?? '';
    for (const named of ['tides.html', id.slice(-6), id]) {
      const begun = await world.cli(['knowledge', 'index', named]);
      const note = `There is no file ${named} here. Using the document of that name.\n`;
      expect([begun.code, begun.stderr.startsWith(note)], begun.stderr).to.equal([0, true]);
    }
    const { entries } = await world.client.knowledge.list();
    expect(entries.map(({ sourceId }) => sourceId)).to.equal([id]);
  });

  it('is nothing where neither a file nor a document has that name', async () => {
    const { code, stderr } = await world.cli(['knowledge', 'index', 'nowhere.md']);
    expect([code, stderr.split('\n')[0]]).to.equal([
      ...[1, 'There is no file nowhere.md here. Using the document of that name.'],
    ]);
    expect(stderr).to.contain('No document has the name or id "nowhere.md".');
  });
});
