import { createHash } from "node:crypto";

import { Extension, NotNegotiated, s } from "octet-extension";

import { greyPng } from "./png.js";

export const extension = new Extension({ uses: ["artifacts"] });

const HEIGHT = 64;
const BAR = 8;

extension.tool(
  "bar_chart",
  {
    description: "Draws numbers as bars.",
    args: s.object({ values: s.array(s.number({ minimum: 0 }), { minItems: 1, maxItems: 64, description: "The numbers, from left to right." }) }),
  },
  async (call, { values }) => {
    const png = draw(values);
    const text = `bars: ${values.join(", ")}`;
    try {
      const { artifact_id } = await call.services.artifacts.publish({
        mime_type: "image/png",
        size: png.length,
        sha256: createHash("sha256").update(png).digest("hex"),
        data: { encoding: "base64", data: png.toString("base64") },
      });
      return { text, media: [{ type: "image", artifact_id, mime_type: "image/png", alt: text }] };
    } catch (fault) {
      if (fault instanceof NotNegotiated) {
        return text; // A host that shows no images still gets the numbers.
      }
      throw fault;
    }
  },
);

/** Dark bars on white, one beside the other, the greatest number as high as the image. */
function draw(values: readonly number[]): Buffer {
  const most = Math.max(...values, Number.MIN_VALUE);
  const tops = values.map((value) => HEIGHT - Math.round((value / most) * HEIGHT));
  return greyPng(values.length * BAR, HEIGHT, (x, y) => (x % BAR < BAR - 1 && y >= (tops[Math.floor(x / BAR)] ?? HEIGHT) ? 0x30 : 0xff));
}
