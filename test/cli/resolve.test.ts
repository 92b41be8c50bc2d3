import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { CliFault, Exit } from '../../cli/exit.js';
import { type Named, resolveId } from '../../cli/resolve.js';

export const lab = Lab.script();
const { describe, it } = lab;

const id = (tail: string) => `hook_01jcx2kq7m8f3k2a9v5z${tail}`;
const pages: Named[][] = [
  [
    { id: id('aaaaaa'), name: 'github' },
    { id: id('bbbbbb'), name: 'twin' },
  ],
  [
    { id: id('cccccc'), name: 'twin' },
    { id: id('dddddd'), name: 'aaaaaa' },
  ],
];

/** The id, or what was said instead. */
const resolved = async (typed: string, more: { pages?: number } = {}): Promise<unknown> => {
  const asked: (string | undefined)[] = [];
  try {
    return await resolveId(typed, {
      ...{ noun: 'hook', listed: 'hooks list', ...more },
      page: async (cursor) => {
        asked.push(cursor);
        const at = Number(cursor ?? 0);
        return { rows: pages[at] ?? [], nextCursor: at + 1 < pages.length ? `${at + 1}` : null };
      },
    });
  } catch (error) {
    if (!(error instanceof CliFault)) throw error;
    return [error.exit, error.message, ...error.next];
  }
};

describe('resolveId', () => {
  it('takes a full id as it is, without asking', async () => {
    expect(await resolved(id('ffffff'))).to.equal(id('ffffff'));
  });

  it('takes a name, also from a later page', async () => {
    expect(await resolved('github')).to.equal(id('aaaaaa'));
  });

  it('looks through no more pages than it is told to, and says so', async () => {
    expect(await resolved('bbbbbb', { pages: 1 })).to.equal(id('bbbbbb'));
    expect(await resolved('cccccc', { pages: 1 })).to.equal([
      ...[Exit.failed, 'No hook of the newest 2 has the name or id "cccccc".'],
      ...['An older item needs the full id.', 'List them: adjutant hooks list'],
    ]);
    expect(await resolved('cccccc', { pages: 2 })).to.equal(id('cccccc'));
  });

  it('takes the last six or more characters, in either case', async () => {
    expect(await resolved('BBBBBB')).to.equal(id('bbbbbb'));
    expect(await resolved('5zcccccc')).to.equal(id('cccccc'));
  });

  it('asks which is meant where the name of one thing is the end of the id of another', async () => {
    expect(await resolved('aaaaaa')).to.equal([
      Exit.usage,
      '"aaaaaa" is ambiguous: 2 matches. Type more of the id:',
      `  ${id('aaaaaa')}  github`,
      `  ${id('dddddd')}  aaaaaa`,
    ]);
    expect(await resolved(id('dddddd'))).to.equal(id('dddddd'));
  });

  it('names the candidates where several have the name', async () => {
    expect(await resolved('twin')).to.equal([
      Exit.usage,
      '"twin" is ambiguous: 2 matches. Type more of the id:',
      `  ${id('bbbbbb')}  twin`,
      `  ${id('cccccc')}  twin`,
    ]);
  });

  it("takes one's own before one of that name that ships", async () => {
    const named = (shipped: boolean[]) => ({
      ...{ noun: 'hook', listed: 'hooks list' },
      page: async () => ({
        rows: shipped.map((isShipped, at) => ({ id: `hook_${at}`, name: 'notes', isShipped })),
        nextCursor: null,
      }),
    });
    expect(await resolveId('notes', named([true, false]))).to.equal('hook_1');
    expect(await resolveId('hook_0', named([true, false]))).to.equal('hook_0');
    expect(await resolveId('notes', named([true]))).to.equal('hook_0');
  });

  it('says what was meant', async () => {
    expect(await resolved('gihtub')).to.equal([
      Exit.failed,
      'No hook has the name or id "gihtub". Did you mean: github',
      'List them: adjutant hooks list',
    ]);
  });

  it('says where to look for what is not there', async () => {
    expect(await resolved('bbbbb')).to.equal([
      Exit.failed,
      'No hook has the name or id "bbbbb".',
      'List them: adjutant hooks list',
    ]);
  });
});
