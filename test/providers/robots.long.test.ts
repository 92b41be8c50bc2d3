import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PageFailed } from '../../src/providers/pages/request.js';
import { createRobots } from '../../src/providers/pages/robots.js';

export const lab = Lab.script();
const { describe, it } = lab;

const NOT_ALLOWED = 'its robots.txt disallows it';

describe('createRobots', () => {
  let now = 0;
  const asked: string[] = [];
  const robotsOf = (file: string | number | null) =>
    createRobots(
      async (url) => {
        asked.push(url);
        if (typeof file === 'string') {
          return { status: 200, body: Buffer.from(file), url, contentType: 'text/plain' };
        }
        throw new PageFailed('it failed', file, file === null ? null : url);
      },
      () => now,
    );
  const { signal } = new AbortController();

  it('keeps to the rules for its own name, else to those for all', async () => {
    const robots = robotsOf(
      'User-agent: *\nDisallow: /a\nAllow: /a/open\n\nUser-agent: Adjutant\nDisallow: /b$\n',
    );
    expect(await robots('http://h.example/a', signal)).to.be.null();
    expect(await robots('http://h.example/b', signal)).to.equal(NOT_ALLOWED);
    expect(await robots('http://h.example/b/c', signal)).to.be.null();
    const others = robotsOf('User-agent: *\nDisallow: /a\nAllow: /a/open\n');
    expect(await others('http://h.example/a/x', signal)).to.equal(NOT_ALLOWED);
    expect(await others('http://h.example/a/open', signal)).to.be.null();
  });

  it('allows all where there is no file, and nothing where it does not come', async () => {
    for (const status of [404, 403, 410]) {
      expect(await robotsOf(status)('http://h.example/a', signal)).to.be.null();
    }
    const failed = 'its robots.txt could not be fetched: it failed';
    for (const status of [500, 503, null]) {
      expect(await robotsOf(status)('http://h.example/a', signal)).to.equal(failed);
    }
  });

  it('asks each host once an hour, and again where that failed', async () => {
    asked.length = 0;
    const robots = robotsOf('User-agent: *\nDisallow: /a\n');
    const paths = ['/a', '/b', '/a'];
    await Promise.all(paths.map((path) => robots(`http://h.example${path}`, signal)));
    await robots('http://h.example:8080/a', signal);
    expect(asked).to.equal(['http://h.example/robots.txt', 'http://h.example:8080/robots.txt']);
    now += 61 * 60_000;
    await robots('http://h.example/a', signal);
    expect(asked).to.have.length(3);
    const failing = robotsOf(500);
    await failing('http://h.example/a', signal);
    await failing('http://h.example/a', signal);
    expect(asked).to.have.length(5);
  });

  it('reads codes of plain characters as those, and no other record as the end of a group', async () => {
    const plain = robotsOf('User-agent: *\nDisallow: /private\n');
    expect(await plain('http://h.example/%70rivate/x', signal)).to.equal(NOT_ALLOWED);
    const coded = robotsOf('User-agent: *\nDisallow: /%70rivate\nDisallow: /a%2fb\n');
    expect(await coded('http://h.example/private', signal)).to.equal(NOT_ALLOWED);
    expect(await coded('http://h.example/a%2Fb', signal)).to.equal(NOT_ALLOWED);
    expect(await coded('http://h.example/a/b', signal)).to.be.null();
    const delayed = robotsOf(
      'User-agent: adjutant\nCrawl-delay: 3\nUser-agent: foo\nDisallow: /\n',
    );
    expect(await delayed('http://h.example/x', signal)).to.equal(NOT_ALLOWED);
  });

  it('forgets the oldest files where those that are kept are large', async () => {
    asked.length = 0;
    const robots = robotsOf(`User-agent: *\nDisallow: /a\n${'#'.repeat(600 * 1024)}`);
    for (let n = 0; n < 33; n++) await robots(`http://h${n}.example/a`, signal);
    await robots('http://h32.example/a', signal);
    expect(asked).to.have.length(33);
    await robots('http://h0.example/a', signal);
    expect(asked).to.have.length(34);
  });

  it('gives up on rules that were made to take long', async () => {
    const agents = 'User-agent: a\n'.repeat(30_000);
    const robots = robotsOf(`${agents}${'Disallow: /x\n'.repeat(2000)}`);
    expect(await robots('http://h.example/a', signal)).to.equal(NOT_ALLOWED);
  });
});
