"""The example in memory and as a process."""

import base64
from pathlib import Path

from pixel import ext

from octet_extension import HostError
from octet_extension.api_v04 import ImagePart
from octet_extension.testing import ProcessHost, TestHost


def keep(params: dict[str, object]) -> object:
    return {"artifact_id": f"art-{params['size']}"}


def test_a_picture_is_published_and_shown() -> None:
    with TestHost(ext, services={"artifacts.publish": keep}) as host:
        result = host.call("draw", level=128, size=2)
        sent = host.wait_sent("artifacts.publish")
        data = sent.params["data"]
        assert isinstance(data, dict)
        picture = base64.b64decode(data["data"])
        assert picture.startswith(b"\x89PNG")
        assert result.text == "A square of 2 by 2 pixels."
        assert result.content[1] == ImagePart(
            artifact_id=f"art-{len(picture)}", mime_type="image/png", alt="a square of grey 128"
        )


def test_hosts_without_pictures() -> None:
    with TestHost(ext, features=()) as host:
        assert host.call("draw", level=0).text == "this host takes no pictures"

    def refuse(params: dict[str, object]) -> object:
        raise HostError("not_foreground_owner", 0, "no session", None)

    with TestHost(ext, services={"artifacts.publish": refuse}) as host:
        assert host.call("draw", level=0).text == "the host refused the picture: no session"


def test_as_a_process() -> None:
    with ProcessHost(Path(__file__).parent, services={"artifacts.publish": keep}) as host:
        assert not host.call("draw", level=1).is_error
    assert host.status == 0
