import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOTE = 'The staging server is argon.\n\nIts cellar is dry.';

describe('what is kept from a pipe', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.stop());

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
        stderr:
          'Standard input contains no text. Pass the text as an argument or through a pipe.\n',
      },
    });
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
