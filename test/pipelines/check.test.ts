import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { checkTemplate } from '../../src/pipelines/templates/check.js';
import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { PRESETS } from '../../src/pipelines/templates/presets.js';

export const lab = Lab.script();
const { describe, it } = lab;

const KNOWN = {
  models: () => ['digest'],
  faultsOfTools: (names: string[]) =>
    names.flatMap((name, at) =>
      ['time.now', 'notify.send', 'documents.read'].includes(name)
        ? []
        : [{ at, message: 'names no tool' }],
    ),
  faultsOfParams: () => [],
  isNumericParam: () => false,
  refusalOf: () => null,
};

const agent = (
  key: string,
  more: Partial<TemplateStage> = {},
  prompt = 'Go on',
): TemplateStage => ({
  key,
  kind: 'agent',
  config: { prompt },
  ...more,
});
const using = (...values: string[]): string => values.map((value) => `{{${value}}}`).join(' ');

/** The paths and messages of what is wrong with a template of these stages. */
const faultsOf = (stages: unknown[], more: object = {}): [string, string][] =>
  checkTemplate({ name: 'Test', stages, ...more }, KNOWN).faults.map(({ path, message }) => [
    path,
    message,
  ]);
const pathsOf = (stages: unknown[], more: object = {}): string[] =>
  faultsOf(stages, more).map(([path]) => path);

describe('the check of a template', () => {
  it('accepts every template that ships', () => {
    for (const { name, parameters, stages, limits, onFinish } of PRESETS) {
      const { faults } = checkTemplate({ name, parameters, stages, limits, onFinish }, KNOWN);
      expect([name, faults]).to.equal([name, []]);
    }
  });

  it('names the circle', () => {
    const stages = [
      agent('first'),
      agent('a', { needs: ['first', 'c'] }),
      agent('b', { needs: ['a'] }),
      agent('c', { needs: ['b'] }),
    ];
    expect(faultsOf(stages)).to.equal([['stages.1.needs', 'must not form a cycle: a → c → b → a']]);
    expect(faultsOf([agent('a', { needs: ['a'] })])).to.equal([
      ['stages.0.needs', 'must not form a cycle: a → a'],
    ]);
  });

  it('names the place of what is not there', () => {
    expect(
      pathsOf([
        agent('a', { needs: ['b', 'c', 'c'] }),
        agent('a', { onError: { goto: 'z' } }),
        agent('c', { config: { prompt: 'x', model: 'gpt', tools: ['time.now', 'x.y'] } }),
      ]),
    ).to.equal([
      'stages.2.config.model',
      'stages.2.config.tools.1',
      'stages.0.needs.0',
      'stages.0.needs.2',
      'stages.1.key',
      'stages.1.onError.goto',
    ]);
  });

  it('refuses unknown keys, and configurations of another kind', () => {
    expect(pathsOf([{ ...agent('a'), command: 'ls' }])).to.equal(['stages.0.command']);
    expect(pathsOf([agent('a', { config: { prompt: 'x', url: 'y' } })])).to.equal([
      'stages.0.config.url',
    ]);
    expect(pathsOf([agent('a', { kind: 'tool' })])).to.equal([
      'stages.0.config.toolId',
      'stages.0.config.toolAction',
      'stages.0.config.prompt',
    ]);
    expect(pathsOf([agent('a')], { owner: 'eve' })).to.equal(['owner']);
    expect(pathsOf([])).to.equal(['stages']);
    expect(pathsOf(Array.from({ length: 1000 }, (_, at) => agent(`s${at}`)))).to.equal(['stages']);
  });

  it('refuses a goto that does not lead back, and rules that never count', () => {
    const back = (goto: string) => [
      agent('a'),
      agent('b', { needs: ['a'], onError: { goto } }),
      agent('c', { needs: ['b'] }),
      agent('d'),
    ];
    expect(pathsOf(back('a'))).to.equal([]);
    expect(pathsOf(back('b'))).to.equal([]);
    expect(pathsOf(back('c'))).to.equal(['stages.1.onError.goto']);
    expect(pathsOf(back('d'))).to.equal(['stages.1.onError.goto']);
    expect(pathsOf([agent('a', { runIf: 'failure' })])).to.equal(['stages.0.runIf']);
    expect(pathsOf([agent('a', { maxVisits: 2 })])).to.equal(['stages.0.maxVisits']);
  });

  it('refuses parameters that contradict themselves', () => {
    const parameters = [
      { key: 'a', type: 'choice' },
      { key: 'b', type: 'number', default: '7' },
      { key: 'b', type: 'string', options: ['x'] },
      { key: 'c', type: 'choice', options: ['x', 'y'], default: 'z' },
      { key: 'd', type: 'string', default: 'x', required: true },
    ];
    expect(pathsOf([agent('s')], { parameters })).to.equal([
      'parameters.0.options',
      'parameters.1.default',
      'parameters.2.key',
      'parameters.2.options',
      'parameters.3.default',
      'parameters.4.default',
    ]);
  });

  it('accepts of JSON Schema what takes no more time than the output is long', () => {
    const withOutput = (output: Record<string, unknown>) => pathsOf([agent('a', { output })]);
    expect(
      withOutput({
        type: 'object',
        properties: { a: { type: ['string', 'null'] } },
        required: ['a'],
      }),
    ).to.equal([]);
    expect(withOutput({ type: 'text' })).to.equal(['stages.0.output.type']);
    expect(withOutput({ properties: { a: { pattern: '(a+)+$' } } })).to.equal([
      'stages.0.output.properties.a.pattern',
    ]);
    expect(withOutput({ $ref: '#' })).to.equal(['stages.0.output.$ref']);
    let deep: Record<string, unknown> = { type: 'string' };
    for (let at = 0; at < 20; at++) deep = { items: deep };
    expect(withOutput(deep)).to.have.length(1);
  });
});

describe('the values that a template names', () => {
  const named = (stages: TemplateStage[], parameters: object[] = []) =>
    faultsOf(stages, { parameters });

  it('are parameters, outputs of stages that were needed, items and the run', () => {
    const stages = [
      agent('a', { output: { type: 'object' } }, using('params.who', 'run.id')),
      agent('b', { needs: ['a'] }, using('stages.a.output', 'stages.a.output.list.0.name')),
      agent('c', { needs: ['b'] }, using('stages.a.output', 'stages.b.output')),
    ];
    expect(named(stages, [{ key: 'who', type: 'string' }])).to.equal([]);
    expect(named([agent('a', {}, 'Braces {{ a | b }} and {{}} stay')])).to.equal([]);
  });

  it('are refused with their place if they are not there', () => {
    const at = 'stages.1.config.prompt';
    const of = (value: string) => named([agent('a'), agent('b', {}, using(value))])[0];
    expect(of('params.who')).to.equal([
      at,
      'uses the unknown parameter who. The template has no parameters',
    ]);
    expect(of('param.who')).to.equal([
      at,
      'uses the unknown value {{param.who}}. Available: params.<key>, stages.<key>.output, item and run.id',
    ]);
    expect(of('item')?.[1]).to.contain('only available inside a foreach');
    expect(of('stages.z.output')).to.equal([at, 'refers to an unknown stage: z']);
    expect(of('stages.a.output')).to.equal([at, 'refers to the stage a. Add it to the needs of b']);
    expect(of('stages.b.output')).to.equal([at, 'refers to the stage b. Add it to the needs of b']);
    const needing = [agent('a'), agent('b', { needs: ['a'] }, using('stages.a.result'))];
    expect(named(needing)[0]?.[1]).to.equal(
      'uses the unknown field result of a stage. Available: output, status, error',
    );
  });

  it('are not the output of a stage that may have been skipped or have failed', () => {
    const when = [{ field: 'params.deep', operator: 'equals' as const, value: true }];
    const parameters = [{ key: 'deep', type: 'boolean' }];
    const of = (stages: TemplateStage[]) => named(stages, parameters).map(([path]) => path);
    const reader = (more: Partial<TemplateStage>) =>
      agent('last', more, using('stages.a.output', 'stages.a.status', 'stages.a.error'));
    const at = 'stages.2.config.prompt';
    const b = agent('b');
    // Alone, the last is skipped with it.
    expect(of([agent('a', { when }), b, reader({ needs: ['a'] })])).to.equal([]);
    expect(of([agent('a', { when }), b, reader({ needs: ['a', 'b'] })])).to.equal([at]);
    expect(of([agent('a'), b, reader({ needs: ['a', 'b'] })])).to.equal([]);
    const goesOn = agent('a', { onError: 'continue' });
    expect(of([goesOn, b, reader({ needs: ['a'] })])).to.equal([at]);
    expect(of([agent('a'), b, reader({ needs: ['a'], runIf: 'always' })])).to.equal([at]);
    expect(of([agent('a'), b, reader({ needs: ['a'], runIf: 'failure' })])).to.equal([at]);
    const through = agent('b', { needs: ['a'], when });
    expect(of([agent('a'), through, reader({ needs: ['b'] })])).to.equal([]);
  });

  it('may be an item inside a foreach alone', () => {
    const each = (prompt: string, more: object = {}): TemplateStage => ({
      key: 'each',
      kind: 'foreach',
      config: { items: '{{params.list}}', stage: { kind: 'agent', config: { prompt } }, ...more },
    });
    const parameters = [{ key: 'list', type: 'text' }];
    expect(named([each('Read {{item.title}}')], parameters)).to.equal([]);
    expect(named([each('Read', { items: '{{item}}' })], parameters)).to.have.length(1);
    const nested = each('x');
    Object.assign(nested.config, { stage: { kind: 'foreach', config: {} } });
    expect(named([nested], parameters).map(([path]) => path)).to.equal([
      'stages.0.config.stage.kind',
    ]);
  });

  it('are found in a graph of many layers at once', () => {
    const layers = Array.from({ length: 10 }, (_, layer) =>
      Array.from({ length: 10 }, (_, at) => ({ layer, key: `s${layer}-${at}` })),
    );
    const when = [{ field: 'run.id', operator: 'exists' as const }];
    const stages = layers.flatMap((row, layer) =>
      row.map(({ key }) =>
        agent(key, {
          needs: (layers[layer - 1] ?? []).map((above) => above.key),
          ...(layer === 0 && { when }),
        }),
      ),
    );
    expect(named([...stages.slice(0, 99), agent('z', { needs: ['s8-0'] })])).to.equal([]);
  });
});
