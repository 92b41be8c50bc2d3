/** Stores common prefixes once. A node is a number, 0 is the root. */
export class Trie {
  private readonly child: Int32Array;
  private readonly sibling: Int32Array;
  private readonly unit: Uint16Array;
  private readonly depths: Uint8Array;
  private readonly ends: Uint8Array;
  private readonly first = new Int32Array(0x10000);
  private count = 1;

  constructor(words: string[]) {
    const most = words.reduce((all, { length }) => all + length, 1);
    this.child = new Int32Array(most);
    this.sibling = new Int32Array(most);
    this.unit = new Uint16Array(most);
    this.depths = new Uint8Array(most);
    this.ends = new Uint8Array(most);
    for (const word of words) this.enter(word);
  }

  follow(node: number, unit: number): number {
    if (node === 0) return this.first[unit] ?? 0;
    let at = this.child[node] ?? 0;
    while (at !== 0 && this.unit[at] !== unit) at = this.sibling[at] ?? 0;
    return at;
  }

  isEnd(node: number): boolean {
    return this.ends[node] === 1;
  }

  depth(node: number): number {
    return this.depths[node] ?? 0;
  }

  private enter(word: string): void {
    let at = 0;
    for (let index = 0; index < word.length; index++) {
      const unit = word.charCodeAt(index);
      at = this.follow(at, unit) || this.add(at, unit);
    }
    this.ends[at] = 1;
  }

  private add(parent: number, unit: number): number {
    const node = this.count++;
    this.unit[node] = unit;
    this.depths[node] = this.depth(parent) + 1;
    if (parent === 0) this.first[unit] = node;
    else {
      this.sibling[node] = this.child[parent] ?? 0;
      this.child[parent] = node;
    }
    return node;
  }
}
