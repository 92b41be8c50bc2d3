import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { renderJson, renderTemplate } from '../../src/hooks/template.js';
import { scope } from './templatescope.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('renderTemplate', () => {
  it('is quick with places that never close', () => {
    const open = `{{${' '.repeat(50_000)}`;
    const since = performance.now();
    expect(renderTemplate(open, { hook: { name: 'a' } })).to.equal(open);
    expect(performance.now() - since).to.be.below(1000);
  });

  it('is bounded, however often a large payload is named', () => {
    const large = { ...scope, hook: { name: 'x'.repeat(4_000_000) } };
    const since = performance.now();
    const rendered = renderTemplate('{{hook.name}}'.repeat(7000), large);
    expect(rendered).to.have.length(256 * 1024 + 1);
    expect(performance.now() - since).to.be.below(1000);
  });
});

describe('renderJson', () => {
  it('takes a literal that is never closed, quickly', () => {
    const since = performance.now();
    expect(renderJson(`"${'\\"'.repeat(50_000)}{{event}}`, scope)).to.endWith('push');
    expect(performance.now() - since).to.be.below(500);
  });
});
