Feature: A host is asked to change tools, and shown results
  A change is taken whole or not at all. A result that breaks a bound costs its call alone.

  @0.2 @0.4 @EXT04-DYN-007 @EXT04-DYN-008 @EXT04-DYN-009 @EXT04-DYN-011 @EXT04-DYN-012 @EXT04-DYN-013 @EXT04-DYN-019
  Scenario: Tools that come and go
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | tools/register | {"tools":[{"name":"conform_a","description":"A.","parameters":{"type":"object"}}]} | result {"revision":1} | EXT04-DYN-009 |
      | tools/register | {"tools":[{"name":"conform_a","description":"A again.","parameters":{"type":"object"}}]} | result {"revision":2} | EXT04-DYN-007 |
      | tools/unregister | {"names":["conform_a","conform_none"]} | result {"revision":3} | EXT04-DYN-008 |
      | tools/register | {"tools":[{"name":"conform_bad","parameters":{"type":"object"}}]} | error invalid_params | EXT04-DYN-012 |
      | tools/register | {"tools":[{"name":"conform_bad","description":"B.","parameters":{"type":"array"}}]} | error invalid_params | EXT04-DYN-012 |
      | tools/register | {"tools":[{"name":"conform_b","description":"B.","parameters":{"type":"object"}},{"name":"conform_b","description":"B.","parameters":{"type":"object"}}]} | error invalid_params | EXT04-DYN-012 |
      | tools/register | {"tools":[«list 257 {"name":"conform_%d","description":"N.","parameters":{"type":"object"}}»]} | error invalid_params | EXT04-DYN-012 |
      | tools/register | {"tools":[{"name":"conform_c","description":"C.","parameters":{"type":"object"}},{"name":"conform bad","description":"C.","parameters":{"type":"object"}}]} | error invalid_params | EXT04-DYN-013 |
      | tools/unregister | {"names":["conform_other"]} | result | EXT04-DYN-013 |
      | tools/register | {"tools":[{"name":"conform_d","description":"D.","parameters":{"type":"object"}}]} | result | EXT04-DYN-011 |
      | commands/register | {"commands":[{"name":"conform","description":"C."}]} | token unsupported_feature | EXT04-DYN-019 |
    Then the host answers as wanted
    And the revisions grow by one, and "conform_c" is in none
    And the host says what the tool said

  @0.2 @0.4 @EXT04-DYN-006
  Scenario: Tools that the manifest does not know
    Given a sound extension
    And it selects "dynamic_tools"
    And its manifest declares {"tools":["conform_none"]}
    When it asks during a call
      | method | params | answer |
      | conform/unknown | {} | token unsupported_feature |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-TOOL-012 @EXT04-NEST-006 @EXT04-RES-006
  Scenario: Definitions that need a feature
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | tools/register | {"tools":[{"name":"conform_s","description":"S.","parameters":{"type":"object"},"prompt_snippet":"Say it"}]} | error invalid_params | EXT04-TOOL-012 |
      | tools/register | {"tools":[{"name":"conform_g","description":"G.","parameters":{"type":"object"},"prompt_guidelines":["Once"]}]} | error invalid_params | EXT04-TOOL-012 |
      | tools/register | {"tools":[{"name":"conform_n","description":"N.","parameters":{"type":"object"},"composition":{"mode":"on","inline_budget":1}}]} | error invalid_params | EXT04-NEST-006 |
      | tools/register | {"tools":[{"name":"conform_o","description":"O.","parameters":{"type":"object","properties":{"from":{"type":"object","additionalProperties":false,"required":["$resource","type"],"properties":{"$resource":{"type":"string"},"type":{"const":"conform.Stop"}}}}},"operation":{"id":"o","resource_inputs":[{"path":"/from","type":"conform.Stop","access":"exclusive"}],"resource_outputs":[]}}]} | error invalid_params | EXT04-RES-006 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-TOOL-013 @EXT04-TOOL-015
  Scenario: Prompt texts
    Given a sound extension
    And it selects "tool_prompt_metadata_v1"
    And its tool has {"prompt_guidelines":["Ask\tonce."]}
    When it asks during a call
      | method | params | answer | rule |
      | tools/register | {"tools":[{"name":"conform_g","description":"G.","parameters":{"type":"object"},"prompt_guidelines":["Without a snippet"]}]} | result | EXT04-TOOL-015 |
      | tools/register | {"tools":[{"name":"conform_m","description":"M.","parameters":{"type":"object"},"prompt_guidelines":[«list 17 "g%d"»]}]} | error invalid_params | EXT04-TOOL-013 |
      | tools/register | {"tools":[{"name":"conform_l","description":"L.","parameters":{"type":"object"},"prompt_snippet":"«repeat 1025 s»"}]} | error invalid_params | EXT04-TOOL-013 |
      | tools/register | {"tools":[{"name":"conform_c","description":"C.","parameters":{"type":"object"},"prompt_snippet":"\u001b[1mSay it"}]} | error invalid_params | EXT04-TOOL-013 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-TOOL-021
  Scenario: A sampling that only a model understands
    Given a sound extension
    And its tool has {"constrained_sampling":{"grammar":{"syntax":"lark","definition":"start: /a/"}}}
    When it asks during a call
      | method | params | answer |
      | conform/unknown | {} | token unsupported_feature |
    Then the host answers as wanted
    And the host says what the tool said

  Scenario Outline: Definitions that are refused at initialize
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host gives the extension up

    @0.1 @0.2 @0.4 @EXT04-TOOL-007
    Examples:
      | fault |
      | describes a tool by nothing |
      | writes null for no parameters |
      | takes its parameters as a list |

    @0.2 @0.4 @EXT04-TOOL-007
    Examples:
      | fault |
      | uses references in an output schema |

    @0.1 @EXT01-TOOL-002
    Examples:
      | fault |
      | has a tool with an output schema |

  @0.4 @EXT04-TOOL-012
  Scenario: Prompt texts that were not selected, at initialize
    Given a sound extension
    And its tool has {"prompt_snippet":"Ask it"}
    When it asks during a call
      | method | params | answer |
      | conform/unknown | {} | nothing |
    Then the host gives the extension up

  @0.2 @0.4 @EXT04-RESULT-012
  Scenario Outline: A result over a bound
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host reports a failure
    And the extension was asked to shut down

    Examples:
      | fault |
      | answers with too many bytes of structured content |
      | answers with too many levels of structured content |
      | answers with too many values of structured content |
      | answers with too many bytes of metadata |
      | answers with too many levels of metadata |
      | answers with a key over the bound in metadata |

  @0.2 @0.4 @EXT04-RESULT-011
  Scenario: An image without the feature for it
    Given an extension that writes an image without the feature for it
    When the host calls the tool "echo"
    Then the host reports a failure
    And the extension was asked to shut down

  @0.1 @EXT01-RESULT-002
  Scenario: Metadata on the version that throws it away
    Given a sound extension
    And its result has {"metadata":[{"anything":null}]}
    When it asks during a call
      | method | params | answer |
      | conform/unknown | {} | token unsupported_feature |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-ART-006 @EXT04-ART-007 @EXT04-ART-008 @EXT04-ART-009 @EXT04-ART-010
  Scenario: Artifacts
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9","data":{"encoding":"base64","data":"iVBORw0KGgoA"}} | result | EXT04-ART-006 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":8,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9","data":{"encoding":"base64","data":"iVBORw0KGgoA"}} | error invalid_params | EXT04-ART-007 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"«repeat 64 0»","data":{"encoding":"base64","data":"iVBORw0KGgoA"}} | error invalid_params | EXT04-ART-007 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":2,"sha256":"fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603","data":{"encoding":"base64","data":"YWI="}} | error invalid_params | EXT04-ART-007 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9","path":"conform/none.png"} | error invalid_params | EXT04-ART-008 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9","path":"../extension.png"} | error invalid_params | EXT04-ART-008 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":262146,"sha256":"c54e062ded6fa3f0495704ed345588d7239c543fb3135e8690d52e23076a997c","data":{"encoding":"base64","data":"iVBORw0KGgoA«repeat 349516 A»"}} | error invalid_params | EXT04-ART-009 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":20971521,"sha256":"«repeat 64 0»","path":"conform/large.png"} | error invalid_params | EXT04-ART-009 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9"} | error invalid_params | EXT04-ART-010 |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9","path":"both.png","data":{"encoding":"base64","data":"iVBORw0KGgoA"}} | error invalid_params | EXT04-ART-010 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-ART-009
  Scenario: More artifacts than a process may publish
    Given a sound extension
    When it asks during a call
      | times | method | params | answer |
      | 64 | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9","data":{"encoding":"base64","data":"iVBORw0KGgoA"}} | result |
      | 1 | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9","data":{"encoding":"base64","data":"iVBORw0KGgoA"}} | error invalid_params |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4
  Scenario Outline: A result with media that are not its own
    Given a sound extension
    And its result has {"content":[{"type":"text","text":"shown"},<part>]}
    When it asks during a call
      | method | params | answer |
      | artifact/publish | {"parent_request_id":«call»,"mime_type":"image/png","size":9,"sha256":"843ac23b1736b4487ec81cf7c07ddd9bb46ae5b7818c2c3843d99d62fa75f3c9","data":{"encoding":"base64","data":"iVBORw0KGgoA"}} | result |
    Then the host answers as wanted
    And the host shows no such result

    @EXT04-RESULT-014 @EXT04-ART-012
    Examples:
      | part |
      | {"type":"image","artifact_id":"conform-foreign","mime_type":"image/png"} |

    @EXT04-RESULT-014
    Examples:
      | part |
      | {"type":"image","artifact_id":«from 1 artifact_id»,"mime_type":"image/gif"} |
      | {"type":"audio","artifact_id":«from 1 artifact_id»,"mime_type":"image/png"} |
