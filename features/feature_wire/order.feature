@0.1 @0.2 @0.4
Feature: Who may say what when
  Nothing before the answer to initialize, initialize once, and no id twice at the same time.

  @EXT04-ORDER-001
  Scenario: The answer to initialize is the first frame
    Given the extension has been started
    When the host sends initialize
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-ORDER-001
  Scenario: An extension that hears nothing says nothing
    Given the extension has been started
    When the host closes the input
    Then the extension ends without a word

  @EXT04-ORDER-002
  Scenario Outline: A request before initialize
    Given the extension has been started
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"<method>","params":{}}
    Then the extension answers with the error invalid_request

    Examples:
      | method        |
      | shutdown      |
      | tool/call     |
      | conform/probe |

  @EXT04-ORDER-003
  Scenario: A second initialize
    Given the extension is ready
    When the host sends initialize
    Then the extension answers with the error invalid_request
    And the extension goes on serving

  @EXT04-ORDER-004
  Scenario Outline: The id of a running call is used again
    Given the extension is ready
    And a call is running
    When the host sends the line {"id":«running»,"jsonrpc":"2.0","method":"<method>","params":<params>}
    And the extension answers with an error
    And the running call is undisturbed
    And the host asks for shutdown
    Then the running call is answered

    Examples:
      | method        | params                                                      |
      | conform/probe | {}                                                          |
      | tool/call     | {"arguments":«arguments»,"context":«context»,"name":«tool»} |
      | shutdown      | {}                                                          |

  @EXT04-ORDER-005
  Scenario: Methods of a conversation
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-ORDER-006
  Scenario Outline: The refusal of an id that is in use
    Given the extension is ready
    And a call is running
    When the host sends the line {"id":«running»,"jsonrpc":"2.0","method":"<method>","params":<params>}
    Then the extension answers with the error invalid_request

    Examples:
      | method        | params                                                      |
      | conform/probe | {}                                                          |
      | tool/call     | {"arguments":«arguments»,"context":«context»,"name":«tool»} |

  @EXT04-ORDER-007
  Scenario: Initialize behind a request that came too early
    Given the extension has been started
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}
    And the extension answers with an error
    And the host sends initialize
    Then the extension answers with a result
