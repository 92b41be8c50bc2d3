import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { graph, importsByPath } from '../harness/graph.js';

export const lab = Lab.script();
const { describe, it } = lab;

/**
 * Packages that are loaded with a module of the project, without those of Node. What `import()`
 * names is loaded when it is needed.
 */
const packagesOf = (path: string): string[] => {
  const imports = importsByPath();
  const reached = new Set([path]);
  const packages = new Set<string>();
  for (const file of reached) {
    for (const { module, resolved, ...kind } of imports.get(file) ?? []) {
      if (kind.dynamic || kind.coreModule || kind.dependencyTypes.includes('type-only')) continue;
      if (kind.dependencyTypes.includes('local')) reached.add(resolved);
      else packages.add(module);
    }
  }
  return [...packages].sort();
};

/** Those that become or take the place of the daemon, and the screen. */
const HEAVY = ['serve', 'recover', 'environment', 'tui'];

/** The width of characters, and numbers of JSON as they came. */
const SMALL = ['get-east-asian-width', 'lossless-json'];

describe('what a command loads', () => {
  it('is next to nothing for help', () => {
    for (const path of ['cli/main.ts', 'cli/commands/help.ts', 'cli/completion/candidates.ts']) {
      expect(packagesOf(path)).to.equal(['commander', ...SMALL]);
    }
  });

  it('is no screen for the desk line by line', () => {
    expect(packagesOf('tui/linear/desk.ts')).to.equal(SMALL);
  });

  it('is neither a server nor a database nor a screen for the others', () => {
    const names = graph()
      .modules.map(({ source }) => /^cli\/commands\/([\w-]+)\.tsx?$/.exec(source))
      .flatMap((match) => (match && !HEAVY.includes(match[1] ?? '') ? [match[0]] : []));
    const heavy = /^(@hapi\/hapi|better-sqlite3|kysely|ink|react|pino|ai|@ai-sdk\/.*|undici)$/;
    const found = names.map((path) => [path, packagesOf(path).filter((name) => heavy.test(name))]);
    expect(names.length).to.be.above(20);
    expect(found.filter(([, packages]) => packages?.length)).to.equal([]);
  });
});
