import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { parseTemplateYaml } from '../../src/pipelines/templates/yaml.js';

export const lab = Lab.script();
const { describe, it } = lab;

const faultOf = (text: string): string => {
  const [fault] = parseTemplateYaml(text).faults;
  return fault ? `${fault.line ?? '-'}: ${fault.message}` : 'none';
};

describe('the YAML of a template', () => {
  it('has no key that changes what a map is, and is read at once', () => {
    expect(faultOf('a: 1\nb: { __proto__: { tools: [x] } }')).to.equal(
      '2: must not contain the key __proto__',
    );
    const begun = performance.now();
    const keys = Array.from({ length: 42_000 }, (_, at) => at).join(',');
    expect(faultOf(`a: {${keys}}`)).to.match(/more than 20000 values/);
    // Compared with each other, they take half a minute.
    expect(performance.now() - begun < 5000).to.be.true();
  });
});
