import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOTE = 'The staging server is argon.\n\nIts cellar is dry.';

describe('what is kept from a pipe', () => {
  const world = openForSuite(lab, openWorld);

  it('is the text of a note, without its last line feed', async () => {
    const made = await world.cli(['knowledge', 'create', '-', '--title', 'Servers', '--json'], {
      stdin: `${NOTE}\n`,
    });
    const { id } = JSON.parse(made.stdout);
    const { title, content } = await world.client.knowledge.get({ id });
    expect([title, content]).to.equal(['Servers', NOTE]);
  });

  it('is the text of a memory', async () => {
    await world.cli(['memories', 'create', '-'], { stdin: 'The office closes at six.\n' });
    const { memories } = await world.client.memories.list();
    expect(memories.map(({ text }) => text)).to.equal(['The office closes at six.']);
  });

  it('is refused if it is empty', async () => {
    const refused = await world.cli(['knowledge', 'create', '-'], { stdin: '\n' });
    expect(refused).to.equal({
      ...{
        code: 2,
        stdout: '',
        stderr: 'Standard input is empty. Pass the text as an argument or through a pipe.\n',
      },
    });
  });

  for (const words of [
    ['knowledge', 'create', '-'],
    ['knowledge', 'index', '-'],
    ['tasks', 'create', '-'],
    ['agents', 'spawn', '-'],
    ['chat', '-'],
    ['email', 'send', '--to', 'grace@example.org', '--subject', 'Hi', '--text-file', '-'],
  ]) {
    it(`is text, for ${words.slice(0, 2).join(' ')}`, async () => {
      const latin = Buffer.from('Der Müßiggänger schläft lang.\n', 'latin1');
      const ended = await world.cli(words, { stdin: latin });
      expect([ended.code, ended.stderr.split('\n')]).to.equal([
        2,
        [
          'Standard input is not text in UTF-8 or UTF-16. Convert it to UTF-8 first.',
          'From Windows-1252 or Latin-1: iconv -f WINDOWS-1252 -t UTF-8 <file> | adjutant …',
          '',
        ],
      ]);
      const empty = await world.cli(words, { stdin: '' });
      expect([empty.code, empty.stderr]).to.equal([
        2,
        'Standard input is empty. Pass the text as an argument or through a pipe.\n',
      ]);
    });
  }

  it('is empty like a file, alone or in a folder', async () => {
    const folder = join(await world.file('empty.txt', ''), '..', 'empty');
    await mkdir(folder);
    await writeFile(join(folder, 'empty.txt'), '');
    for (const words of [
      ['documents', 'upload', join(folder, 'empty.txt')],
      ['documents', 'upload', folder],
      ['documents', 'upload', '-', '--name', 'empty.txt'],
      ['knowledge', 'index', join(folder, 'empty.txt')],
      ['knowledge', 'index', folder],
    ]) {
      const { code, stderr } = await world.cli(words, { stdin: '' });
      expect([code, stderr.split('\n')[0]], words.join(' ')).to.equal([1, 'empty.txt is empty.']);
    }
  });
});

describe('what is indexed', () => {
  let world: World;
  let root: string;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'adjutant-root-')));
    world = await openWorld({ config: { knowledgeRoots: [root], egressAllow: ['127.0.0.1'] } });
    await writeFile(join(root, 'tides.md'), 'The pier floods at noon.');
    await writeFile(join(root, 'photo.raw'), Buffer.from([0, 1, 2, 3]));
  });
  after(async () => {
    await world.stop();
    await rm(root, { recursive: true, force: true });
  });

  const UNREAD = 'photo.raw: The file type is not supported';

  it('is what can be read of a folder of the daemon, and the rest is named', async () => {
    const indexed = await world.cli(['knowledge', 'index', root, '--on-server']);
    expect([indexed.code, indexed.stderr]).to.equal([1, `${UNREAD}\n`]);
    const { entries } = await world.client.knowledge.list();
    expect(entries.map(({ title }) => title)).to.equal(['tides.md']);
  });

  it('is named in a pipe like on a terminal where it could not be read', async () => {
    const get = ['knowledge', 'folders', 'get', root];
    const piped = await world.cli(get);
    expect([piped.code, piped.stderr, piped.stdout.split('\n').length]).to.equal([
      ...[0, `${UNREAD}\n`, 2],
    ]);
    const { stdout, stderr } = await world.cli([...get, '--json']);
    expect([stderr, JSON.parse(stdout).failures.length]).to.equal(['', 1]);
    const shown = await world.cli(get, { terminal: 120 });
    expect([shown.stderr, shown.stdout.includes('photo.raw')]).to.equal(['', true]);
  });

  it('is a page, however its address is pasted', async () => {
    const pasted = [
      'HTTP://127.0.0.1:1/page',
      ' http://127.0.0.1:1/page ',
      '<http://127.0.0.1:1/page>',
    ];
    for (const address of pasted) {
      const begun = await world.cli(['knowledge', 'index', address, '--no-wait']);
      expect([begun.code, begun.stderr], address).to.equal([0, '']);
    }
    const { tasks } = await world.client.reader.list();
    expect(tasks.map(({ url }) => url)).to.equal(pasted.map(() => 'http://127.0.0.1:1/page'));
  });
});

describe('a search', () => {
  let world: World;
  let id = '';
  before(async () => {
    world = await openWorld();
    const body = { title: 'Servers', text: NOTE };
    id = (await world.client.knowledge.create({ body })).id;
    await until(
      () => world.client.knowledge.search({ body: { query: 'argon' } }),
      ({ results }) => results.length > 0,
    );
  });
  after(() => world.stop());

  it('opens one result: its place, its whole text, and the way to its source', async () => {
    const tail = id.slice(-6);
    const shown = await world.cli(['knowledge', 'search', 'argon', '--open', '1'], {
      terminal: 80,
    });
    expect([shown.code, shown.stdout]).to.equal([0, `Servers · note · ${tail} 0\n\n${NOTE}\n`]);
    expect(shown.stderr).to.equal(`Source: adjutant knowledge get ${tail}\n`);
  });

  it('shows a chunk in the same way, in JSON as the API does', async () => {
    const tail = id.slice(-6);
    const shown = await world.cli(['knowledge', 'chunk', tail, '0'], { terminal: 80 });
    expect(shown.stdout).to.equal(`Servers · note · ${tail} 0\n\n${NOTE}\n`);
    const piped = await world.cli(['knowledge', 'chunk', tail, '0', '--json']);
    expect(JSON.parse(piped.stdout)).to.include({
      ...{ entryId: id, chunk: 0, chunks: 1, sourceType: 'note', sourceId: null, text: NOTE },
    });
  });

  it('opens it in a pipe as names and values', async () => {
    const piped = await world.cli(['knowledge', 'search', 'argon', '--open', '1']);
    const facts = piped.stdout.trimEnd().split('\n');
    expect(facts).to.include([
      ...[`id\t${id}`, 'title\tServers', 'page\t', 'trust\towner'],
      'text\tThe staging server is argon.\\n\\nIts cellar is dry.',
    ]);
  });

  it('answers a question in a pipe with the quotes, a line each', async () => {
    const { answer, citations, grounded } = await world.client.knowledge.ask({
      body: { question: 'Which server is staging?' },
    });
    const piped = await world.cli(['knowledge', 'ask', 'Which server is staging?']);
    const [first, ...quotes] = piped.stdout.trimEnd().split('\n');
    expect(first).to.equal(`${answer.replaceAll('\n', '\\n')}\t${grounded}\tdigest`);
    expect(citations.length).to.be.above(0);
    expect(quotes).to.equal(
      citations.map(({ n, quote }) =>
        [`[${n}]`, id, '0', 'Servers', '', '', quote.replaceAll('\n', '\\n')].join('\t'),
      ),
    );
  });

  it('shows the quotes of an answer on a terminal without their line feeds', async () => {
    const shown = await world.cli(['knowledge', 'ask', 'Which server is staging?'], {
      terminal: 200,
    });
    expect(shown.stdout).to.include('“The staging server is argon. Its cellar is dry.”');
    expect(shown.stdout).not.to.include('\\n');
    expect(shown.stdout.split('\n')).to.include(`    adjutant knowledge chunk ${id.slice(-6)} 0`);
  });

  it('says that there are fewer results', async () => {
    const open = (n: string) => world.cli(['knowledge', 'search', 'argon', '--open', n]);
    expect(await open('2')).to.equal({
      ...{ code: 1, stdout: '', stderr: 'There is no result 2. Pass a number from 1 to 1.\n' },
    });
    expect((await open('0')).code).to.equal(2);
  });
});
