import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sections } from '../../cli/entries.js';
import { topHelp } from '../../cli/help.js';
import { readTopic, TOPICS } from '../../cli/topics.js';
import { computeTextWidth } from '../../src/kernel/width.js';
import { calledBy, endpoints, REASONS } from './endpoints.js';
import { leaves } from './leaves.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Every command by its words: `hooks list`, `whoami`. */
const verbs = async (): Promise<string[]> => (await leaves()).map(({ path }) => path);

describe('the command tree', () => {
  it('reaches every endpoint, or says why not', async () => {
    const called = (await leaves()).flatMap(calledBy);
    const missing = endpoints.filter((each) => !called.includes(each) && !REASONS[each.name]);
    expect(missing.map(({ name }) => name)).to.equal([]);
  });

  it('names no endpoint that is gone, and gives no reason for one that is reached', async () => {
    const called = (await leaves()).flatMap(calledBy).map(({ name }) => name);
    const names = endpoints.map(({ name }) => name);
    const stale = Object.keys(REASONS).filter((name) => !names.includes(name));
    const reached = Object.keys(REASONS).filter((name) => called.includes(name));
    expect([stale, reached]).to.equal([[], []]);
  });

  it('calls endpoints of the API alone', async () => {
    const unknown = (await leaves()).flatMap((leaf) => {
      const names = calledBy(leaf).flatMap(({ name, endpoint }) => [name, endpoint]);
      return (leaf.command.calls ?? []).filter((call) => !names.includes(call));
    });
    expect(unknown).to.equal([]);
  });

  it('has the commands that the topics speak of', async () => {
    const known = await verbs();
    const groups = sections.flatMap(({ entries }) => entries.map(({ name }) => name));
    const said = TOPICS.map((name) => readTopic(name) ?? []).flatMap((lines) =>
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
    const lines = [...topHelp(sections, TOPICS).split('\n')];
    for (const name of TOPICS) lines.push(...(readTopic(name) ?? []));
    expect(lines.filter((line) => computeTextWidth(line) > 80)).to.equal([]);
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
