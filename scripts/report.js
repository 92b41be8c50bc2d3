import { existsSync, readFileSync } from 'node:fs';

/**
 * Counts of lab's junit report, with the titles of what was skipped. lab escapes all text in it,
 * so a `<` always begins a tag. Where the runner died, there is no report, and nothing is counted.
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
    skipped: skipped.map(title),
  };
};

const title = (text) => {
  const [, suite, name] = /classname="([^"]*)" name="([^"]*)"/.exec(text) ?? [];
  return plain(`${suite} ${name}`.trim());
};

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#x60': '`', '#x3D': '=' };

const plain = (text) => text.replace(/&([\w#]+);/g, (all, name) => ENTITIES[name] ?? all);
