import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { normalizeTemplate } from '../../src/pipelines/templates/normalize.js';
import { PRESETS } from '../../src/pipelines/templates/presets.js';
import { formatTemplateYaml, parseTemplateYaml } from '../../src/pipelines/templates/yaml.js';

export const lab = Lab.script();
const { describe, it } = lab;

const faultOf = (text: string): string => {
  const [fault] = parseTemplateYaml(text).faults;
  return fault ? `${fault.line ?? '-'}: ${fault.message}` : 'none';
};

describe('the YAML of a template', () => {
  it('is written as it is read', () => {
    for (const preset of PRESETS) {
      const { value } = parseTemplateYaml(formatTemplateYaml(preset));
      const { name, description, parameters, stages, limits, onFinish } = preset;
      const whole = { name, description, parameters, stages, limits, onFinish };
      expect(normalizeTemplate(Object.assign({ name: '', stages: [] }, value))).to.equal(whole);
    }
  });

  it('knows the line of each path, or of what is above it', () => {
    const read = parseTemplateYaml(
      'name: A\nstages:\n  - key: a\n    kind: agent\n  - key: b\n    needs:\n      - z\n',
    );
    if (!('lineOf' in read)) throw new Error('Not read');
    const lines = ['name', 'stages.0.kind', 'stages.1.needs.0', 'stages.1.config.prompt', 'owner'];
    expect(lines.map(read.lineOf)).to.equal([1, 4, 7, 5, undefined]);
  });

  it('is refused with the line if it cannot be read', () => {
    expect(faultOf('name: A\nstages: [')).to.match(/^\d: is not valid YAML: /);
    expect(faultOf('name: A\nname: B')).to.equal('2: contains the key name twice');
    expect(faultOf('name: !exec ls')).to.match(/^1: .*tag/);
    expect(faultOf('a: 1\n---\nb: 2')).to.match(/documents/);
  });

  it('has no aliases, few values and little depth', () => {
    const bomb = [
      'a: &a [x, x, x]',
      ...'bcdefghij'
        .split('')
        .map((key, at) => `${key}: &${key} [*${'abcdefghi'[at]}, *${'abcdefghi'[at]}]`),
    ];
    expect(faultOf(bomb.join('\n'))).to.equal('2: must not contain aliases such as *a');
    expect(faultOf('base: &b {x: 1}\nmore:\n  <<: *b')).to.equal(
      '3: must not contain aliases such as *b',
    );
    expect(faultOf(`[${'1,'.repeat(30_000)}]`)).to.equal(
      '1: must not contain more than 20000 values',
    );
    expect(faultOf('['.repeat(100_000))).to.contain('nested too deeply');
  });

  it('has no key that changes what a map is, and so many values', () => {
    expect(faultOf('a: 1\nb: { __proto__: { tools: [x] } }')).to.equal(
      '2: must not contain the key __proto__',
    );
    const keys = Array.from({ length: 42_000 }, (_, at) => at).join(',');
    expect(faultOf(`a: {${keys}}`)).to.match(/more than 20000 values/);
  });

  it('keeps texts that look like something else', () => {
    const { value } = parseTemplateYaml('on: yes\nversion: "1.0"\nday: 2026-01-02\noctal: 0o14');
    expect(value).to.equal({ on: 'yes', version: '1.0', day: '2026-01-02', octal: 12 });
  });
});
