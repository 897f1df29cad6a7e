/** The visibility that an element's declarations set. If absent: they do not set it. */
export interface Visibility extends BoxVisibility, TextVisibility {}

/** Hides all that an element contains. */
interface BoxVisibility {
  readonly display?: 'hidden' | 'shown';
  readonly opacity?: 'hidden' | 'shown';
  /** By another property, which no other rule reverts. */
  readonly other?: 'hidden';
}

/** Hides text, but an element inside may show its own text again. `inherited`: as the parent does. */
export interface TextVisibility {
  readonly visibility?: 'hidden' | 'shown' | 'inherited';
  readonly size?: 'hidden' | 'shown' | 'inherited';
  readonly color?: 'hidden' | 'shown' | 'inherited';
  /** Overrides the color. `color`: does not. */
  readonly fill?: 'hidden' | 'shown' | 'inherited' | 'color';
  /** The background is cut to the text, so transparent letters are visible. */
  readonly clip?: 'shown';
}

export function declaredBy(style: string): Visibility {
  const found: { -readonly [K in keyof Visibility]: Visibility[K] } = {};
  const others: string[] = [];
  for (const declaration of inOrder(plain(style))) {
    const property = PROPERTY_OF[declaration.slice(0, declaration.indexOf(':'))];
    if (property === undefined) others.push(declaration);
    else if (property === 'clip') {
      if (/:text$/.test(declaration)) found.clip = 'shown';
    } else if (HIDING.test(declaration) || TRANSPARENT.test(declaration)) found[property] = 'hidden';
    else if (property === 'fill' && /:(?:currentcolor|initial)$/.test(declaration)) found.fill = 'color';
    else if (property !== 'display' && property !== 'opacity' && INHERITING.test(declaration))
      found[property] = 'inherited';
    else if (SHOWING.test(declaration)) found[property] = 'shown';
  }
  if (hides(others.join(';'))) found.other = 'hidden';
  return found;
}

const PROPERTY_OF: Readonly<Record<string, Exclude<keyof Visibility, 'other'>>> = {
  display: 'display',
  opacity: 'opacity',
  visibility: 'visibility',
  'font-size': 'size',
  font: 'size',
  color: 'color',
  '-webkit-text-fill-color': 'fill',
  'background-clip': 'clip',
  '-webkit-background-clip': 'clip',
};

/**
 * An unterminated comment extends to the end, as in a browser. By index: a pattern would search the whole rest each
 * time.
 */
export function withoutComments(css: string): string {
  const parts: string[] = [];
  for (let at = 0; at < css.length; ) {
    const begin = css.indexOf('/*', at);
    parts.push(css.slice(at, begin === -1 ? css.length : begin));
    const end = begin === -1 ? -1 : css.indexOf('*/', begin + 2);
    at = end === -1 ? css.length : end + 2;
  }
  return parts.join(' ');
}

/** The declarations of a style; those that override others are last, without their mark. */
function inOrder(style: string): readonly string[] {
  const isImportant = (declaration: string): boolean => declaration.endsWith('!');
  const all = style.split(';');
  const important = all.filter(isImportant).map((declaration) => declaration.slice(0, -1));
  return [...all.filter((declaration) => !isImportant(declaration)), ...important];
}

/** In small letters and without spaces; `!important` is only `!`. */
function plain(style: string): string {
  return withoutEscapes(withoutComments(style))
    .toLowerCase()
    .replace(/!\s*important/g, '!')
    .replace(FONT, '$1font-size:$2')
    .replace(/\s+/g, '');
}

/** `font: bold 12px/1 serif`: the size is before the family, without which a browser ignores the value. */
const FONT = new RegExp(
  `(^|;)\\s*font\\s*:\\s*(?:(?:${[
    'normal|italic|oblique|small-caps|bold|bolder|lighter|[1-9]00',
    '(?:(?:ultra|extra|semi)-)?(?:condensed|expanded)',
  ].join('|')})\\s+)*([a-z]+\\([^;]*\\)|[^\\s;/("']+(?=["'/]|\\s+[^\\s;!]))[^;!]*`,
  'g',
);

/** Whether declarations make an element unreadable. */
function hides(css: string): boolean {
  return (
    HIDING.test(css) ||
    // Not a greatest width of one pixel: it makes a table cell cut its text to the room that the table has.
    (/(?:^|;)(?:(?:max-)?(?:height|width):0(?:px|em|rem|%)?|(?:height|width):1px)(?:;|$)/.test(css) &&
      /overflow(?:-[xy])?:(?:hidden|clip)/.test(css))
  );
}

/** `\6eone` is `none`. */
export function withoutEscapes(css: string): string {
  if (!css.includes('\\')) return css;
  return css.replace(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, (_, code?: string, character = '') => {
    const point = Number.parseInt(code ?? '', 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : character;
  });
}

const NUMBER = '(?:\\d+(?:\\.\\d+)?|\\.\\d+)';
/** Units of the parent's font. */
const RELATIVE = '(?:em|ex|ch|cap|ic|lh|%)';

const DISPLAYS =
  '(?:inline-)?(?:block|flex|flexbox|grid|table|box)|inline|flow|flow-root|list-item|contents|ruby|(?:table|ruby)-[a-z-]{1,20}';

/** A browser ignores a value that it does not know. */
const SHOWING = new RegExp(
  `^(?:${[
    `display:(?:-webkit-|-ms-)?(?:${DISPLAYS}){1,3}$`,
    'display:(?:inherit|initial|unset|revert)$',
    'visibility:(?:visible|initial)$',
    'opacity:(?:[\\d.]+%?$|inherit|initial|unset|revert)',
    `font-size:${NUMBER}(?:px|pt|pc|in|cm|mm|q|rem|rlh|[dls]?v(?:w|h|i|b|min|max))$`,
    'font-size:(?:(?:xx?-)?small|medium|(?:x{1,3}-)?large)$',
    'font-size:(?:calc|clamp|min|max|var)\\(.+\\)$',
    'font(?:-size)?:initial$',
    '(?:color|-webkit-text-fill-color):#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$',
    '(?:color|-webkit-text-fill-color):(?:rgba?|hsla?|hwb|(?:ok)?(?:lab|lch)|color|var)\\(.+\\)$',
    '(?:color|-webkit-text-fill-color):(?:black|white|canvastext|initial)$',
  ].join('|')})`,
);

/** Values that depend on the parent's. */
const INHERITING = new RegExp(
  `:(?:${[
    '(?:inherit|unset|revert|revert-layer|currentcolor|smaller|larger)$',
    `${NUMBER}${RELATIVE}$`,
    `(?:calc|clamp|min|max)\\(.*[\\d.]${RELATIVE}`,
  ].join('|')})`,
);

const HIDING = new RegExp(
  `(?:^|;)(?:${[
    'display:none',
    'visibility:(?:hidden|collapse)',
    'opacity:(?:-[\\d.]+|0*(?:\\.0\\d*)?)%?',
    'font-size:0*[01]?(?:\\.\\d+)?(?:px|pt)',
    'font-size:(?=[\\d.])0*(?:\\.0\\d*)?[a-z%]*',
    'font-size:(?:calc|clamp|min|max)\\((?![^;]*var\\()[^1-9;]*\\)',
    'filter:opacity\\(0*(?:\\.0+)?%?\\)',
    'zoom:0',
    'content-visibility:hidden',
    'text-indent:-\\d{3,}(?:\\.\\d+)?(?:px|em|rem|%)?',
    '(?:left|top|right|bottom):(?:calc\\()?-\\d{3,}(?:\\.\\d+)?(?:px|em|rem|vw|vh|%)?\\)?',
    '(?:inset|translate):[^;]*-\\d{4,}[^;]*',
    'clip:rect\\(0(?:px)?,0(?:px)?,0(?:px)?,0(?:px)?\\)',
    'clip:rect\\(1px,1px,1px,1px\\)',
    '(?:left|top|right|bottom):-\\d{2,}(?:\\.\\d+)?(?:em|rem)',
    'margin(?:-left|-top|-inline-start)?:-\\d{4,}(?:\\.\\d+)?(?:px|em|rem|vw|vh|%)?',
    'clip-path:inset\\((?:50|100)%\\)',
    'clip-path:circle\\(0(?:px|%)?(?:at[^;)]*)?\\)',
    'clip-path:polygon\\(0[0px%,]*\\)',
    'transform:scale[xy]?\\(0(?:\\.0+)?(?:,0(?:\\.0+)?)?\\)',
    'transform:translate(?:x|y|3d)?\\([^;)]*-\\d{4,}[^;)]*\\)',
    'scale:0',
  ].join('|')})(?:;|$)`,
);

const TRANSPARENT = new RegExp(
  `^(?:color|-webkit-text-fill-color):(?:${[
    'transparent',
    '#[0-9a-f]{3}0',
    '#[0-9a-f]{6}00',
    '(?:rgb|hsl)a?\\((?:[^,;)]*,){3}0*(?:\\.0+)?%?\\)',
    '[a-z]{3,5}\\([^/;)]*/0*(?:\\.0+)?%?\\)',
  ].join('|')})$`,
);
