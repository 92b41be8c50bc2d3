import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { lookUp, renderDeep, renderJson, renderTemplate } from '../../src/hooks/template.js';
import { scope } from './templatescope.js';

export const lab = Lab.script();
const { describe, it } = lab;

const render = (template: string): string => renderTemplate(template, scope);

describe('renderTemplate', () => {
  it('keeps places that never close', () => {
    const open = `{{${' '.repeat(50_000)}`;
    expect(renderTemplate(open, { hook: { name: 'a' } })).to.equal(open);
  });

  it('puts in what each name stands for', () => {
    expect(render('{{webhook.body.title}}|{{ webhook.body.n }}|{{webhook.path}}')).to.equal(
      'It "works"|7|issues',
    );
    expect(render('{{webhook.method}} {{event}} {{hook.name}}')).to.equal('POST push my hook');
    expect(render('{{webhook.body.zero}} {{webhook.body.yes}} {{webhook.body.none}}')).to.equal(
      '0 false null',
    );
  });

  it('prints nothing for what this run has not, such as an event', () => {
    const agent = { id: 'a', name: 'b', result: null, error: 'c' };
    const without = { ...scope, event: null, agent };
    const text = '[{{event}}] [{{ event }}] [{{agent.result}}] [{{agent.error}}]';
    expect(renderTemplate(text, without)).to.equal('[] [] [] [c]');
    expect(renderDeep({ a: ['{{event}}'] }, without)).to.equal({ a: [''] });
    expect(renderJson('{"in":"{{event}}","as":{{event}}}', without)).to.equal(
      '{"in":"","as":null}',
    );
  });

  it('takes keys with dots in brackets, and items by their number', () => {
    expect(render(`{{webhook.body["a.b"]}} {{ webhook.body['a.b'] }}`)).to.equal('dotted dotted');
    expect(render('{{webhook["body"].list[0]}} {{webhook.body.list[1].b}}')).to.equal('a c');
    expect(render('{{webhook.headers["X-Request-Source"]}}')).to.equal('forge');
    const json = `{"in":"a {{webhook.body["a.b"]}}","as":{{webhook.body["list"]}},"n":{{webhook.body.n}}}`;
    expect(renderJson(json, scope)).to.equal('{"in":"a dotted","as":["a",{"b":"c"}],"n":7}');
    const escaped = '{"in":"{{webhook.body[\\"a.b\\"]}}"}';
    expect(renderJson(escaped, scope)).to.equal('{"in":"dotted"}');
    for (const kept of ['{{webhook.body[a.b]}}', '{{webhook.body["a.b"}}', '{{webhook.body[]}}']) {
      expect(render(kept)).to.equal(kept);
    }
    expect(lookUp({ 'a[0]': 'form' }, 'a[0]')).to.equal('form');
  });

  it('prints objects and lists as JSON, and reaches into them', () => {
    expect(render('{{webhook.body.list}}')).to.equal('["a",{"b":"c"}]');
    expect(render('{{webhook.body.list.0}} {{webhook.body.list.1.b}}')).to.equal('a c');
  });

  it('matches header names without regard to case, all else with it', () => {
    expect(render('{{webhook.headers.X-Request-Source}}')).to.equal('forge');
    expect(render('{{webhook.body.Case}} {{webhook.body.case}}')).to.equal(
      'upper {{webhook.body.case}}',
    );
  });

  it('leaves what it does not know as it is written', () => {
    const unknown = [
      '{{webhook.body.absent}}',
      '{{ secrets.all }}',
      '{{agent.result}}',
      '{{webhook.body.title.length}}',
      '{{webhook.body.list.length}}',
      '{{}}',
      '{{webhook.body.title}',
      '{{webhook.body.title.0}}',
      '{{toString}}',
      '{{constructor.constructor}}',
      '{{webhook.body.constructor}}',
      '{{webhook.constructor.name}}',
      `{{${'x'.repeat(301)}}}`,
    ];
    for (const template of unknown) expect(render(template)).to.equal(template);
  });

  it('reads own properties only, a __proto__ of the payload’s own included', () => {
    expect(lookUp(scope, 'webhook.__proto__')).to.be.undefined();
    expect(lookUp(scope, 'webhook.body.__proto__.own')).to.equal('really');
    expect(lookUp(scope, 'webhook.body.hasOwnProperty')).to.be.undefined();
  });

  it('never expands again what was put in', () => {
    expect(render('{{webhook.body.loop}}')).to.equal('{{webhook.body.title}} {{hook.name}}');
    const nested = { ...scope, hook: { name: '{{event}}' } };
    expect(renderTemplate('{{{{hook.name}}}}', nested)).to.equal('{{{{event}}}}');
  });

  it('keeps dollar signs, which mean something to String.replace', () => {
    const dollars = { ...scope, hook: { name: "$& $1 $' $$" } };
    expect(renderTemplate('<{{hook.name}}>', dollars)).to.equal("<$& $1 $' $$>");
  });

  it('is bounded, however often a large payload is named', () => {
    const large = { ...scope, hook: { name: 'x'.repeat(4_000_000) } };
    const rendered = renderTemplate('{{hook.name}}'.repeat(7000), large);
    expect(rendered).to.have.length(256 * 1024 + 1);
  });
});

describe('renderJson', () => {
  it('escapes inside of text literals only', () => {
    const template = `{"t":"<{{webhook.body.title}}>","n":{{webhook.body.n}},"l":{{webhook.body.list}},
      "text":"{{webhook.body.list}}","q\\"":"{{webhook.body.lines}}","unknown":"{{nothing}}"}`;
    expect(JSON.parse(renderJson(template, scope))).to.equal({
      t: '<It "works">',
      n: 7,
      l: ['a', { b: 'c' }],
      text: '["a",{"b":"c"}]',
      'q"': 'one\ntwo',
      unknown: '{{nothing}}',
    });
  });

  it('lets no payload end a literal', () => {
    const sly = { ...scope, hook: { name: '","isAdmin":true,"x":"\\' } };
    expect(JSON.parse(renderJson('{"name":"{{hook.name}}"}', sly))).to.equal({
      name: '","isAdmin":true,"x":"\\',
    });
  });

  it('takes a literal that is never closed', () => {
    expect(renderJson(`"${'\\"'.repeat(50_000)}{{event}}`, scope)).to.endWith('push');
  });
});

describe('renderDeep', () => {
  it('renders texts at every depth, and neither keys nor other values', () => {
    const params = {
      url: 'https://x/{{event}}',
      '{{event}}': 1,
      deep: [{ title: '{{webhook.body.title}}' }, true, null, 5],
    };
    expect(renderDeep(params, scope)).to.equal({
      url: 'https://x/push',
      '{{event}}': 1,
      deep: [{ title: 'It "works"' }, true, null, 5],
    });
  });

  it('is bounded over all of its texts together', () => {
    const large = { ...scope, hook: { name: 'x'.repeat(200_000) } };
    const rendered = JSON.stringify(renderDeep(Array(100).fill('{{hook.name}}'), large));
    expect(rendered.length).to.be.below(300_000);
  });
});
