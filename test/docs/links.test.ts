import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  anchorsIn,
  type Document,
  documents,
  linksIn,
  readDocument,
} from '../harness/documents.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

interface Link {
  from: string;
  /** From the project's root. */
  to: string;
  anchor: string;
}

const isExternal = (link: string): boolean => /^https?:/.test(link);

const resolve = ({ path }: Document, link: string): Link => {
  const [target = '', anchor = ''] = link.split('#');
  const to = target === '' ? path : normalize(join(dirname(path), target));
  return { from: path, to, anchor };
};

const links = documents().flatMap((document) =>
  linksIn(document)
    .filter((link) => !isExternal(link))
    .map((link) => resolve(document, link)),
);

const shown = ({ from, to, anchor }: Link): string => `${from}: ${to}#${anchor}`;

describe('links in the documents', () => {
  it('lead to what the package holds', () => {
    const { files } = JSON.parse(readFileSync(join(projectRoot(), 'package.json'), 'utf8'));
    const isPacked = (path: string): boolean =>
      files.some((file: string) => path === file || path.startsWith(`${file}/`));
    expect(links.map(({ to }) => to)).to.include('docs/screens/overview.svg');
    expect(links.filter(({ to }) => !existsSync(join(projectRoot(), to))).map(shown)).to.equal([]);
    expect(links.filter(({ to }) => !isPacked(to)).map(shown)).to.equal([]);
  });

  it('lead to headings that exist, also in other documents', () => {
    const anchored = links.filter(({ anchor }) => anchor !== '');
    expect(anchored.map(shown)).to.include('README.md: docs/accounts.md#the-audit-log');
    const isMissing = ({ to, anchor }: Link) => !anchorsIn(readDocument(to)).includes(anchor);
    expect(anchored.filter(isMissing).map(shown)).to.equal([]);
  });

  it('lead from the README to the protocol and to every document', () => {
    const linked = links.filter(({ from }) => from === 'README.md').map(({ to }) => to);
    const paths = documents().map(({ path }) => path);
    expect(linked.filter((path) => path.endsWith('/PROTOCOL.md'))).to.have.length(1);
    expect(paths.filter((path) => path !== 'README.md' && !linked.includes(path))).to.equal([]);
  });
});
