import { existsSync, readFileSync } from 'node:fs';

/**
 * Counts of lab's junit report, with the titles of what was skipped and what failed with its message
 * on one line. lab escapes all text in it, so a `<` always begins a tag. Where the runner died, there
 * is no report, and nothing is counted.
 */
export const readReport = (path) => {
  const xml = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const cases = xml.split('<testcase ').slice(1);
  const failed = cases.filter((text) => text.includes('<failure '));
  const skipped = cases.filter((text) => text.includes('<skipped/>'));
  return {
    cases: cases.length,
    passed: cases.length - failed.length - skipped.length,
    failed: failed.length,
    failures: failed.map((text) => `${title(text)}: ${message(text)}`),
    skipped: skipped.map(title),
  };
};

const title = (text) => {
  const [, suite, name] = /classname="([^"]*)" name="([^"]*)"/.exec(text) ?? [];
  return plain(`${suite} ${name}`.trim());
};

/** The most of a message that is repeated, in characters. */
const MESSAGE_LENGTH = 300;

const message = (text) => {
  const [, found = ''] = /<failure message="([^"]*)"/.exec(text) ?? [];
  return plain(found).replace(/\s+/g, ' ').trim().slice(0, MESSAGE_LENGTH);
};

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#x60': '`', '#x3D': '=' };

const plain = (text) => text.replace(/&([\w#]+);/g, (all, name) => ENTITIES[name] ?? all);
