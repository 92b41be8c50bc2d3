import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sections } from '../../cli/entries.js';
import { topHelp } from '../../cli/help.js';
import { widthOf } from '../../cli/text.js';
import { topics } from '../../cli/topics.js';
import { resources } from '../../src/api.js';
import { REASONS, VERBS } from './endpoints.js';
import { leaves } from './leaves.js';

export const lab = Lab.script();
const { describe, it } = lab;

interface Reached {
  name: string;
  isUnbuilt: boolean;
}

const reached: Reached[] = resources.flatMap(({ name, contract }) =>
  Object.entries(contract).map(([key, endpoint]) => ({
    name: `${name} ${key}`,
    isUnbuilt: endpoint.unbuilt === true,
  })),
);

/** Every command by its words: `hooks list`, `whoami`. */
const verbs = async (): Promise<string[]> => (await leaves()).map(({ path }) => path);

describe('the command tree', () => {
  it('reaches every endpoint that is built, or says why not', async () => {
    const known = await verbs();
    const missing = reached
      .filter(({ name, isUnbuilt }) => !isUnbuilt && !REASONS[name])
      .map(({ name }) => ({ name, verb: VERBS[name] ?? name }))
      .filter(({ verb }) => !known.includes(verb));
    expect(missing).to.equal([]);
  });

  it('has no row for what is gone, named alike, or reached after all', async () => {
    const known = await verbs();
    const names = reached.filter(({ isUnbuilt }) => !isUnbuilt).map(({ name }) => name);
    const rows = [...Object.keys(VERBS), ...Object.keys(REASONS)];
    const stale = rows.filter((name) => !names.includes(name) || known.includes(name));
    const twice = Object.keys(VERBS).filter((name) => REASONS[name]);
    expect([stale, twice]).to.equal([[], []]);
  });

  it('has no command for what is not built', async () => {
    const built = resources.filter(({ name }) => name !== 'unbuilt').map(({ name }) => name);
    const resourceOf = (name: string) => name.split('/')[2] ?? '';
    const waiting = reached
      .filter(({ name, isUnbuilt }) => isUnbuilt && !built.includes(resourceOf(name)))
      .map(({ name }) => resourceOf(name));
    const first = (await verbs()).map((verb) => verb.split(' ')[0]);
    expect(waiting.filter((resource) => first.includes(resource))).to.equal([]);
  });

  it('has the commands that the topics speak of', async () => {
    const known = await verbs();
    const groups = sections.flatMap(({ entries }) => entries.map(({ name }) => name));
    const said = Object.values(topics).flatMap((lines) =>
      [...lines.join('\n').matchAll(/adjutant ((?:[a-z]+[a-z-]* ?)+)/g)].map(([, words = '']) =>
        words.trim().split(' '),
      ),
    );
    const isThere = (words: string[]) =>
      [1, 2, 3].some((count) => known.includes(words.slice(0, count).join(' '))) ||
      groups.includes(words.join(' '));
    expect(said.filter((words) => !isThere(words))).to.equal([]);
  });

  it('fits the topics into a terminal of 80 columns', () => {
    const lines = [...topHelp(sections, Object.keys(topics)).split('\n')];
    for (const topic of Object.values(topics)) lines.push(...topic);
    expect(lines.filter((line) => widthOf(line) > 80)).to.equal([]);
  });

  it('gives no name twice, aliases included', async () => {
    for (const { load, name } of sections.flatMap((section) => section.entries)) {
      const of = await load();
      if (!('commands' in of)) continue;
      const words = of.commands.flatMap((command) => [command.name, ...(command.aliases ?? [])]);
      expect([name, words]).to.equal([name, [...new Set(words)]]);
    }
  });
});
