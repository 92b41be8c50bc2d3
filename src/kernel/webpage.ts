/** A page that the daemon serves to browsers. Its files lie beside the code that they belong to. */
export interface WebPage {
  /** The path, such as `/invite`. The stylesheet, shared by all pages, is `/invite/page.css`. */
  path: string;
  html(): URL;
  /** The scripts by name: `page.js` is `/invite/page.js`. */
  scripts: Record<string, () => URL>;
}
