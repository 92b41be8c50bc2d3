import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { endpoints } from './harness/api.js';
import { linksIn, readDocument } from './harness/documents.js';
import { sources } from './harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

const readme = readDocument('README.md');

/** The first two parts of a path: `/api/hooks`, `/health`. */
const areaOf = (path: string): string => path.split('/').slice(0, 3).join('/');

/** The areas that the rows of the table of features name. */
const areasListed = (): string[] => {
  const rows = readme.text.split('\n').filter((line) => line.includes('| works |'));
  const paths = rows.flatMap((row) =>
    [...row.matchAll(/`(\/[^`]+)`/g)].map(([, path = '']) => path),
  );
  return [...new Set(paths.map(areaOf))].sort();
};

const areas = (): string[] => [...new Set(endpoints.map(({ path }) => areaOf(path)))].sort();

describe('README', () => {
  it('has the two commands and a picture', () => {
    expect(readme.text).to.match(/```sh\nnpm start .*\nnpm test .*\n```/);
    expect(linksIn(readme)).to.include('docs/screens/overview.svg');
  });

  it('lists every area of the API', () => {
    const health = areas().filter((area) => area.startsWith('/health/'));
    expect(health).to.have.length(3);
    const listed = [...areasListed(), ...health].sort();
    // The socket is no endpoint of a contract.
    expect(listed.filter((area) => area !== '/ws')).to.equal(areas());
  });

  it('has the parts that messages name', () => {
    const named = sources().flatMap(({ tree }) =>
      [...tree.text.matchAll(/see "([^"\n]+)" in the README/g)].map(([, title = '']) => title),
    );
    expect(named).to.include('The audit log');
    expect(named.filter((title) => !readme.text.includes(`[${title}](`))).to.equal([]);
  });
});
