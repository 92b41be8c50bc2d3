import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { graph, importsByPath } from '../harness/graph.js';
import { projectRoot } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

const read = (path: string): string => readFileSync(join(projectRoot(), path), 'utf8');
const document = read('docs/architecture.md');

interface Step {
  number: number;
  file: string;
  name: string;
}

const ROW = /^\| (\d+) \| .* \| `(\S+)` \| `(\w+)` \|$/gm;
const steps: Step[] = [...document.matchAll(ROW)].map(([, number, file = '', name = '']) => ({
  number: Number(number),
  file,
  name,
}));

/**
 * The steps that reach the next one otherwise than by an import, with the file that connects the
 * two and the way.
 */
const HANDED_OVER: Record<string, { by: string; how: string }> = {
  'openFastPath → receiversResource': { by: 'src/modules.ts', how: 'the resource is given to it' },
  'acceptDelivery → createQueue': {
    by: 'src/hooks/inbound/backlog.ts',
    how: 'after the commit the inbox tells the queue of the lane',
  },
  'createQueue → claimExecutions': { by: 'src/procedures.ts', how: 'a registered procedure' },
  'claimExecutions → createRunner': {
    by: 'src/jobs/queue.ts',
    how: 'the queue passes what was claimed to its runner',
  },
  'createRunner → createExecutor': { by: 'src/hooks/module.ts', how: 'a registered handler' },
  'spawnRecord → createLoop': { by: 'src/agents/module.ts', how: 'a registered handler' },
  'runStep → openAiSdkModel': { by: 'src/models/open.ts', how: 'the registry opens the model' },
  'openAiSdkModel → runCalls': { by: 'src/agents/step.ts', how: 'the step has got its reply' },
  'runToolCall → endAgent': { by: 'src/agents/step.ts', how: 'a later step has no calls' },
  'postNotice → createNoticeFanout': { by: 'src/outbound/module.ts', how: 'a registered handler' },
  'createNoticeFanout → createSender': {
    by: 'src/outbound/module.ts',
    how: 'a registered handler',
  },
  'createSender → createPlatformTransport': {
    by: 'src/channels/module.ts',
    how: 'a registered transport',
  },
  'createPlatformTransport → slack': {
    by: 'src/providers/chat/platforms.ts',
    how: 'one of the listed adapters',
  },
};

const imports = importsByPath();
const imported = (file: string): string[] =>
  (imports.get(file) ?? []).map(({ resolved }) => resolved);

/** True if a file imports another itself, or a file of src/ that does. */
const reaches = (from: string, to: string): boolean =>
  imported(from).includes(to) || imported(from).some((between) => imported(between).includes(to));

const pairs = steps.slice(1).map((to, at) => ({ from: steps[at] ?? to, to }));
const nameOf = ({ from, to }: { from: Step; to: Step }): string => `${from.name} → ${to.name}`;

describe('docs/architecture.md', () => {
  it('lists the modules in their order', () => {
    const section = /## Modules\n(.*?)\n## /s.exec(document)?.[1] ?? '';
    const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    const rules = graph().summary.ruleSetUsed?.forbidden ?? [];
    const modules = rules.flatMap(({ name }) => /^module (\w+)$/.exec(name ?? '')?.[1] ?? []);
    expect(listed).to.equal(modules);
  });

  it('numbers the steps of a delivery from 1', () => {
    expect(steps.length).to.be.above(20);
    expect(steps.map(({ number }) => number)).to.equal(steps.map((_, at) => at + 1));
  });

  it('names for each step of a delivery a function that its file declares', () => {
    const missing = steps.filter(
      ({ file, name }) => !new RegExp(`^(export )?const ${name}\\b`, 'm').test(read(file)),
    );
    expect(missing).to.equal([]);
  });

  it('has the steps of a delivery in the order in which one calls the next', () => {
    const isLinked = (pair: { from: Step; to: Step }): boolean =>
      reaches(HANDED_OVER[nameOf(pair)]?.by ?? pair.from.file, pair.to.file);
    expect(pairs.filter((pair) => !isLinked(pair)).map(nameOf)).to.equal([]);
  });

  it('lists as handed over only neighbouring steps of which one does not import the next', () => {
    const unlinked = pairs.filter(({ from, to }) => !reaches(from.file, to.file)).map(nameOf);
    expect(Object.keys(HANDED_OVER)).to.equal(unlinked);
  });
});
