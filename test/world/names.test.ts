import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { resolveId } from '../../cli/resolve.js';
import { sanitizeFileName } from '../../src/documents/upload.js';
import { searchWords } from '../../src/kernel/searchwords.js';
import { quoteFinder } from '../../src/knowledge/quotes.js';
import { type FolderStage, openFolderStage } from '../folders/stage.js';
import { until } from '../harness/app.js';
import { upload } from '../harness/upload.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const decomposed = (text: string): string => text.normalize('NFD');
const SOFT = '\u00ad';
const ZERO = '\u200b';

describe('a name', () => {
  it('is found however its accents are written', async () => {
    const id = 'document_01jcx2kq7m8f3k2a9v5ztw4e6r';
    const rows = [{ id, name: decomposed('Müller Kündigung.txt') }];
    const kind = {
      noun: 'document',
      listed: 'documents list',
      page: async () => ({ rows, nextCursor: null }),
    };
    expect(await resolveId('Müller Kündigung.txt', kind)).to.equal(id);
    expect(await resolveId(`Mül${SOFT}ler Kündigung.txt`, kind)).to.equal(id);
    await expect(resolveId('Muller Kundigung.txt', kind)).to.reject();
  });

  it('of a file that is uploaded is composed, and without what is not visible', () => {
    expect(sanitizeFileName(decomposed('Größe.txt'))).to.equal('Größe.txt');
    expect(sanitizeFileName(`ann${ZERO}ual re${SOFT}port.pdf`)).to.equal('annual report.pdf');
  });
});

describe('the words of a text', () => {
  it('are whole though they are divided', async () => {
    const found = await searchWords(
      `Die Land${SOFT}schaft, the light${ZERO}house, the sub-\nscription and a trans${SOFT}\n mission.`,
    );
    for (const word of ['landschaft', 'lighthous', 'subscript', 'transmiss']) {
      expect(found, word).to.include(word);
    }
  });

  it('prove a quote in the same way', () => {
    const text = `You may end the sub-\nscription at any time in long-\nterm agree${SOFT}ments of Politik${SOFT}wissenschaft.`;
    const found = quoteFinder(text);
    const quoted = (quote: string) => {
      const place = found(quote);
      return place && text.slice(place.from, place.to);
    };
    const whole = 'end the subscription at any time in long-term agreements';
    expect(quoted(whole)).to.equal(
      `end the sub-\nscription at any time in long-\nterm agree${SOFT}ments`,
    );
    expect(quoted('long-term agreements of Politikwissenschaft')).to.not.be.null();
    expect(quoted(`Politik${ZERO}wissenschaft`)).to.equal(`Politik${SOFT}wissenschaft`);
    expect(quoted('end the scription')).to.be.null();
    expect(quoted('end the subscriptions')).to.be.null();
  });
});

describe('the names of files in folders and documents', () => {
  let stage: FolderStage;
  before(async () => {
    stage = await openFolderStage();
  });
  after(() => stage?.stop());

  const titles = async (): Promise<string[]> => {
    const { body } = await stage.call('GET', '/api/knowledge?limit=50');
    return body.entries.map(({ title }: { title: string }) => title);
  };

  it('fit a pattern however either is written', async () => {
    await stage.write({
      [decomposed('Öffnung.md')]: 'Open at nine.',
      [decomposed('Straße/Über.md')]: 'The bridge is closed.',
      'Zero.md': 'Not wanted.',
    });
    const done = await stage.index({ path: stage.folder, patterns: ['Ö*.md', 'Straße/**'] });
    expect(done.result).to.include({ read: 2, failed: 0, skipped: 0 });
    expect((await titles()).sort()).to.equal(['Über.md', 'Öffnung.md'].sort());
    const left = {
      path: stage.folder,
      patterns: [`**/*.md`, decomposed('!Ö*'), 'Über*', '!Zero*'],
    };
    expect((await stage.index(left)).result).to.include({ removed: 1 });
    expect(await titles()).to.equal(['Über.md']);
  });

  it('are found by words that are divided in their texts', async () => {
    await mkdir(join(stage.root, 'divided'));
    const texts = {
      'line.txt': 'You may end the sub-\nscription at any time in long-\nterm agreements.',
      'soft.txt': `Die Politik${SOFT}wissenschaft ist weit.`,
      'zero.txt': `The light${ZERO}house is dark.`,
    };
    for (const [name, text] of Object.entries(texts)) {
      await writeFile(join(stage.root, 'divided', name), text);
    }
    const done = await stage.index({ path: join(stage.root, 'divided') });
    expect(done.result).to.include({ read: 3, failed: 0 });
    for (const [query, name] of [
      ['subscription', 'line.txt'],
      ['"end the subscription at any"', 'line.txt'],
      ['"long term"', 'line.txt'],
      ['Politikwissenschaft', 'soft.txt'],
      [`Politik${ZERO}wissenschaft`, 'soft.txt'],
      ['"the lighthouse is"', 'zero.txt'],
    ] as const) {
      const asked = { query, mode: 'keyword' };
      const { body } = await stage.call('POST', '/api/knowledge/search', asked);
      const shown = body.results.map(
        ({ title, matched }: { title: string; matched: string[] }) => `${title} ${matched}`,
      );
      expect(shown, query).to.equal([`${name} word`]);
    }
    const { body } = await stage.call('POST', '/api/knowledge/search', { query: 'subscription' });
    const [{ snippet, highlights }] = body.results;
    const [from, to] = highlights[0];
    expect(snippet.slice(from, to)).to.equal('sub- scription');
  });

  it('of tags are the same in any form', async () => {
    const tags = [decomposed('Büro')];
    const { body } = await stage.call('POST', '/api/tasks', { title: 'Call', tags });
    expect(body.tags).to.equal(['Büro']);
    for (const tag of ['Büro', decomposed('Büro')]) {
      const found = await stage.call('GET', encodeURI(`/api/tasks?tag=${tag}`));
      expect(found.body.tasks.map(({ id }: { id: string }) => id)).to.equal([body.id]);
    }
  });

  it('of documents are listed by a part in any case and form', async () => {
    const file = { name: decomposed('ÄRGER mit Müller [1].txt'), content: 'Nothing.' };
    const { body } = await upload(stage.app, stage.token, [file], {
      tags: decomposed('Büro'),
    });
    expect(body.documents.map(({ filename }) => filename)).to.equal(['ÄRGER mit Müller [1].txt']);
    const listed = async (query: string): Promise<number> =>
      (await stage.call('GET', `/api/documents?${query}`)).body.documents.length;
    const some = ['q=Müller', 'q=ärger', `q=${decomposed('MÜLLER')}`, 'q=[1]', 'tag=Büro'];
    for (const query of [...some, `tag=${decomposed('Büro')}`]) {
      expect(await listed(encodeURI(query)), query).to.equal(1);
    }
    for (const query of ['q=Muller', 'q=*', 'q=^Ä', 'tag=Buro']) {
      expect(await listed(encodeURI(query)), query).to.equal(0);
    }
    const path = `/api/documents/${body.documents[0]?.id}`;
    await until(
      () => stage.call('GET', path),
      ({ body: { status } }) => status === 'completed',
    );
  });
});
