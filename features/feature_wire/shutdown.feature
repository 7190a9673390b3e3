@0.1 @0.2 @0.4
Feature: Order, shutdown and process
  Nothing before initialize, the answer to shutdown as the last word, and then the process is gone.

  @EXT04-ORDER-001
  Scenario: An extension that hears nothing says nothing
    Given the extension has been started
    When the host closes the input
    Then the extension ends without a word

  @EXT04-ORDER-001 @EXT04-ORDER-005
  Scenario: An extension speaks when it may
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @EXT04-ORDER-002
  Scenario Outline: A request before initialize
    Given the extension has been started
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"<method>","params":{}}
    Then the extension answers with the error invalid_request

    Examples:
      | method        |
      | shutdown      |
      | conform/probe |

  @EXT04-ORDER-003
  Scenario: A second initialize
    Given the extension is ready
    When the host sends initialize
    Then the extension answers with the error invalid_request
    And the extension goes on serving

  @EXT04-ORDER-004
  Scenario: The id of a running call is used again
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","id":«running»,"method":"tool/call","params":{"name":«tool»,"arguments":«arguments»,"context":«context»}}
    And the extension answers with an error
    And the host asks for shutdown
    Then every call is answered before the last request

  @EXT04-ORDER-006
  Scenario: The refusal of a live id has the code of an invalid request
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","id":«running»,"method":"conform/probe","params":{}}
    Then the extension answers with the error invalid_request

  @EXT04-ORDER-007
  Scenario: Initialize behind a request that came too early
    Given the extension has been started
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{}}
    And the extension answers with an error
    And the host sends initialize
    Then the extension answers with a result

  @EXT04-SHUT-001 @EXT04-SHUT-002
  Scenario: Shutdown is answered
    Given the extension is ready
    When the host asks for shutdown
    Then the extension answers with a result
    And no frame breaks a rule of this scenario

  @EXT04-SHUT-003
  Scenario: Running calls are answered before shutdown is
    Given the extension is ready
    And a call is running
    And a call is running
    When the host asks for shutdown
    Then every call is answered before the last request

  @EXT04-SHUT-004
  Scenario: The answer to shutdown is the last frame
    Given the extension is ready
    When the host asks for shutdown
    And the extension answers with a result
    Then the extension exits and has written nothing more

  @EXT04-SHUT-005
  Scenario: The process exits behind its answer
    Given the extension is ready
    When the host asks for shutdown
    And the extension answers with a result
    Then the extension exits
