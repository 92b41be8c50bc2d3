import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { KINDS } from '../../src/outbound/noticekinds.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

const WHEN = {
  plain: 'by your preferences',
  urgent: 'at once, unless muted',
  security: 'at once, always',
  direct: 'at once, always',
  app: 'only in the app',
};

describe('the kinds of notices', () => {
  it('are the table of docs/notifications.md', () => {
    const document = readFileSync(join(projectRoot(), 'docs/notifications.md'), 'utf8');
    const rows = Object.entries(KINDS).map(
      ([kind, { about, rank }]) => `| \`${kind}\` | ${about} | ${WHEN[rank]} |`,
    );
    const table = ['| Kind | Meaning | Delivery to channels |', '|---|---|---|', ...rows].join(
      '\n',
    );
    expect(document).to.contain(`${table}\n\n`);
  });
});
