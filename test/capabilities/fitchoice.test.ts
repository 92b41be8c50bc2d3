import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Candidate, recommend } from '../../src/capabilities/fit/recommend.js';

export const lab = Lab.script();
const { describe, it } = lab;

const model = (
  name: string,
  billions: number,
  runsOn: Candidate['runsOn'],
  {
    estimated = null,
    measured = null,
    gb = billions,
    useCases = ['chat'],
  }: {
    estimated?: number | null;
    measured?: number | null;
    gb?: number;
    useCases?: string[];
  } = {},
): Candidate => ({
  model: name,
  useCases,
  parameters: billions * 1e9,
  totalBytes: gb * 1e9,
  runsOn,
  tokensPerSecond: { estimated, measured: measured === null ? null : { median: measured } },
});

const CASES: [name: string, candidates: Candidate[], model: string | null, why: string][] = [
  [
    'the largest on the GPU, though larger ones run on the CPU',
    [model('s', 1, 'gpu'), model('m', 8, 'gpu'), model('l', 14, 'split', { estimated: 30 })],
    'm',
    'The largest model for chat that runs entirely on the GPU.',
  ],
  [
    'the largest that is fast enough on the CPU',
    [
      model('s', 1, 'cpu', { estimated: 40 }),
      model('m', 4, 'cpu', { estimated: 5 }),
      model('l', 8, 'cpu', { estimated: 4.9 }),
    ],
    'm',
    'The largest model for chat that is fast enough: estimated at 5.0 tokens per second.',
  ],
  [
    'what was measured before what is estimated',
    [
      model('s', 1, 'cpu', { estimated: 40 }),
      model('m', 4, 'cpu', { estimated: 9, measured: 3 }),
      model('l', 8, 'split', { estimated: 4, measured: 6.25 }),
    ],
    'l',
    'The largest model for chat that is fast enough: measured at 6.3 tokens per second.',
  ],
  [
    'the smallest where none is fast enough',
    [model('s', 4, 'cpu', { estimated: 4 }), model('m', 8, 'cpu', { estimated: 2 })],
    's',
    'The smallest suitable model for chat. No suitable model reaches 5 tokens per second.',
  ],
  [
    'the smallest where no speed is known',
    [model('s', 4, 'cpu'), model('m', 8, 'cpu')],
    's',
    'The smallest suitable model for chat. The speed of larger models is not known.',
  ],
  [
    'a model that fits before larger ones that do not',
    [model('s', 1, 'cpu', { estimated: 9 }), model('xl', 70, 'none', { estimated: 1 })],
    's',
    'The largest model for chat that is fast enough: estimated at 9.0 tokens per second.',
  ],
  [
    'of equal ones the one with more bytes, then by name',
    [
      model('0', 8, 'gpu', { gb: 5 }),
      model('b', 8, 'gpu', { gb: 9 }),
      model('a', 8, 'gpu', { gb: 9 }),
    ],
    'a',
    'The largest model for chat that runs entirely on the GPU.',
  ],
  [
    'none where nothing fits',
    [model('s', 4, 'none', { gb: 3 }), model('m', 8, 'none')],
    null,
    'No model for chat fits. The smallest one needs 2.8 GiB.',
  ],
  [
    'none where there is none for the use case',
    [model('e', 0.1, 'cpu', { useCases: ['embedding'] })],
    null,
    'No model supports chat.',
  ],
  ['none where there is no model', [], null, 'No model supports chat.'],
];

describe('the recommended model', () => {
  it('is the best for the machine, with the reason', () => {
    const found = CASES.map(([name, candidates]) => {
      const { model: chosen, why } = recommend(candidates, 'chat');
      return [name, chosen, why];
    });
    expect(found).to.equal(CASES.map(([name, , chosen, why]) => [name, chosen, why]));
  });

  it('does not depend on the order of what there is', () => {
    for (const [name, candidates, chosen] of CASES) {
      expect([name, recommend([...candidates].reverse(), 'chat').model]).to.equal([name, chosen]);
    }
  });

  it('makes vectors fast enough by its size, whatever tokens it would write', () => {
    const embedding = (name: string, billions: number, estimated: number | null) =>
      model(name, billions, 'cpu', { useCases: ['embedding'], estimated });
    const small = embedding('s', 0.1, 90);
    const middle = embedding('m', 0.6, null);
    const large = embedding('l', 8, 9);
    expect(recommend([large, small, middle], 'embedding')).to.equal({
      model: 'm',
      why: 'The largest model for embedding with at most 1 billion parameters, for use on the CPU.',
    });
    expect(recommend([large], 'embedding').model).to.equal('l');
  });

  it('is one for each use case', () => {
    const candidates = [
      model('talks', 8, 'gpu', { useCases: ['chat', 'tools'] }),
      model('writes', 7, 'gpu', { useCases: ['code'] }),
      model('embeds', 0.1, 'cpu', { useCases: ['embedding'] }),
    ];
    const chosen = ['chat', 'tools', 'code', 'embedding', 'speech'].map(
      (useCase) => recommend(candidates, useCase).model,
    );
    expect(chosen).to.equal(['talks', 'talks', 'writes', 'embeds', null]);
  });
});
