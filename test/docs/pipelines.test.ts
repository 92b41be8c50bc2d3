import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { checkTemplate } from '../../src/pipelines/templates/check.js';
import { readYaml } from '../../src/pipelines/templates/yaml.js';
import { codeBlocks, documents } from '../harness/documents.js';

export const lab = Lab.script();
const { describe, it } = lab;

const samples = documents()
  .flatMap(codeBlocks)
  .filter(({ language }) => language === 'yaml');

describe('templates in the documents', () => {
  it('are templates that can be saved', () => {
    expect(samples.length).to.be.above(0);
    const known = { models: () => [], faultsOfTools: () => [] };
    const faults = samples.map(({ code }) => checkTemplate(readYaml(code).value, known).faults);
    expect(faults.flat()).to.equal([]);
  });
});
