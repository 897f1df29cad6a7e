import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Browser, CHROMIUM } from './browser.js';
import { HOSTILE, useHostileJournal } from './hostile-journal.js';

const { toolexec, journal } = useHostileJournal();

describe.skipIf(CHROMIUM === undefined)('the page in a browser (skipped where there is no Chromium)', () => {
  it('runs no script, loads nothing, fits 320 to 1,600 pixels, and can be used with the keyboard', async () => {
    const path = join(toolexec.folder, 'report.html');
    expect((await journal('report', '--html', path)).code).toBe(0);
    const browser = new Browser(String(CHROMIUM));
    try {
      await browser.open(pathToFileURL(path).href);
      expect(
        await browser.ask('document.querySelectorAll("script,img,iframe,link,object,base,form").length'),
      ).toBe(0);
      const calls = Number(await browser.ask('document.querySelectorAll("li.call").length'));
      expect(calls).toBe(Number(JSON.parse((await journal('report', '--json')).stdout).calls));
      // A person sees only the text, without the names of hidden characters.
      const shown = String(await browser.ask('document.querySelector("main").textContent'));
      const plain = HOSTILE.commands.filter((command) => /^[ -~]{1,200}$/.test(command));
      expect(plain.length).toBeGreaterThan(50);
      expect(plain.filter((command) => !shown.includes(command) && !shown.includes('[REDACTED]'))).toEqual(
        [],
      );
      const colours = new Set<unknown>();
      for (const scheme of ['light', 'dark'] as const) {
        for (const width of [320, 800, 1600]) {
          await browser.show(width, scheme);
          await browser.ask('for (const each of document.querySelectorAll("details")) each.open = true');
          expect(Number(await browser.ask('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(
            width,
          );
        }
        colours.add(await browser.ask('getComputedStyle(document.body).backgroundColor'));
      }
      expect(colours.size).toBe(2);
      await browser.ask('for (const each of document.querySelectorAll("details")) each.open = false');
      // A link to a call opens it.
      const target = '[...document.querySelectorAll(".problems a")][0]';
      await browser.ask(`${target}.focus()`);
      await browser.press('Enter');
      expect(
        await browser.ask(`document.getElementById(${target}.hash.slice(1)).closest("details").open`),
      ).toBe(true);
      // The selection of calls is one tab stop, and its values change with the arrow keys.
      await browser.ask('document.getElementById("all").focus()');
      await browser.press('ArrowRight');
      expect(await browser.ask('document.querySelector(":checked").id')).toBe('bad');
      expect(
        await browser.ask(
          '[...document.querySelectorAll("li.call")].filter((call) => call.checkVisibility() && !call.classList.contains("bad")).length',
        ),
      ).toBe(0);
      await browser.ask('for (const each of document.querySelectorAll("details")) each.open = false');
      await browser.press('Tab');
      await browser.press('Enter');
      expect(await browser.ask('document.activeElement.parentElement.open')).toBe(true);
      expect([browser.requests, browser.complaints]).toEqual([[pathToFileURL(path).href], []]);
    } finally {
      await browser.close();
      rmSync(path);
    }
  });
});
